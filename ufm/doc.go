// Package ufm solves unconstrained-features models: the last layer (or the last two) of a network and its features as free
// variables. For each model of the four papers it has the objective with hand-written gradient and Hessian–vector product, the exact
// optimum where one is known, a numerical optimum, and a certificate that says what a point is: globally optimal, a saddle with its
// direction, a trap.
//
// Papers, as cited in comments: MD = Nguyen et al. 2023 (memorization–dilation), TB = Tirer & Bruna
// 2022, ZH = Zhou et al. 2022 (MSE), ZU = Zhu et al. 2021 (CE). docs/internal/formulas.md states every result
// in the notation of this package.
//
// Notation: K classes, n samples per class, N = K·n columns in class-major order (column k·n+i is
// sample i of class k). W is K×d, H d×N, b K, all row-major. c = K√(n λ_W λ_H).
//
// Read config.go first (the models), then problem.go (derivatives), exact.go (optima), solve.go (numerical optimum) and
// certificate.go.
package ufm
