package landscape_test

import (
	"fmt"
	"math"

	"collapse.example/collapse/landscape"
)

// For many classes the gradient of the squared loss at a right angle to the feature's own classifier is (s, αMs): rescaling by α = 5 and
// M = 2 turns the feature ten times as fast and does not change how it shrinks.
func ExampleParams_MSELimit() {
	const s, rightAngle = 1.5, math.Pi / 2
	plain := landscape.Params{K: 100, Alpha: 1, M: 1}.MSELimit(s, rightAngle)
	rescaled := landscape.Params{K: 100, Alpha: 5, M: 2}.MSELimit(s, rightAngle)
	fmt.Printf("∂L/∂θ: plain %.4f, rescaled %.4f; ∂L/∂s: %.4f, %.4f\n", plain.DTheta, rescaled.DTheta, plain.DS, rescaled.DS)
	// Output:
	// ∂L/∂θ: plain 1.5000, rescaled 15.0000; ∂L/∂s: 1.5000, 1.5000
}

// Beside a fixed simplex ETF the squared loss is least along the feature's own classifier, θ = 0, at the length αM/(α + 1/(K−1)).
func ExampleParams_MSE() {
	p := landscape.Params{K: 4, Alpha: 5, M: 3}
	s := p.Alpha * p.M / (p.Alpha + 1/float64(p.K-1))
	at := p.MSE(s, 0)
	fmt.Printf("s = %.4f, loss %.3f, gradient within 1e-12 of zero: %v\n", s, at.Loss, math.Hypot(at.DS, at.DTheta) < 1e-12)
	for _, θ := range []float64{-.1, .1} {
		fmt.Printf("turned by %.1f the loss is larger by %.3f\n", θ, p.MSE(s, θ).Loss-at.Loss)
	}
	// Output:
	// s = 2.8125, loss 1.406, gradient within 1e-12 of zero: true
	// turned by -0.1 the loss is larger by 0.053
	// turned by 0.1 the loss is larger by 0.053
}
