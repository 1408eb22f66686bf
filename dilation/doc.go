// Package dilation solves the memorization–dilation model of Nguyen et al. 2023 (MD, Definition 4.1) for two classes: how far the
// noisy samples of a class are drawn to the other class (memorization), how far that spreads clean test features (dilation), and
// whether label smoothing dilates less than cross-entropy (Theorem 4.3).
//
// Every formula is for the noiseless configuration with penalties λ_W‖W‖² + λ_H‖H‖² (no ½) and the sum
// of two losses. r_max = η‖h1−h2‖²/C_MD is the dilation at which a noisy sample reaches its observed
// class; ρ = r/r_max.
//
// Read model.go first, then law.go (the dilated features) and assumption.go.
package dilation
