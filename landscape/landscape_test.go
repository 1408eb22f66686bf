package landscape

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"collapse.example/collapse/etf"
)

func near(t testing.TB, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %.12g, wanted %.12g ± %g", what, got, want, tol)
	}
}

// Numbers computed apart from this code.
func TestTable(t *testing.T) {
	for _, r := range []struct {
		s, theta float64
		p        Params
		mse, ce  Value
	}{
		{1.7, .6, Params{4, 5, 3}, Value{7.31782240, -5.48135119, 9.01119715}, Value{0.45527026, -0.30699108, 0.70530129}},
		{2, .8, Params{10, 1, 1}, Value{1.32880880, 1.52551551, 1.43471218}, Value{1.19636901, -0.38777417, 1.40813930}},
		{1.5, math.Pi / 2, Params{10, 5, 2}, Value{11.25, 1.66666667, 15}, Value{2.49156719, 0.29700757, 1.52869978}},
	} {
		for name, v := range map[string][2]Value{"mse": {r.p.MSE(r.s, r.theta), r.mse}, "ce": {r.p.CE(r.s, r.theta), r.ce}} {
			near(t, name+" loss", v[0].Loss, v[1].Loss, 6e-9)
			near(t, name+" ds", v[0].DS, v[1].DS, 6e-9)
			near(t, name+" dθ", v[0].DTheta, v[1].DTheta, 6e-9)
		}
	}
}

// Errata: (30) as printed subtracts 1 from the other classes; (35) is not a limit of the gradient.
func TestPrintedFormulasFail(t *testing.T) {
	p, s, theta := Params{4, 5, 3}, 1.7, .6
	own, other, rest := p.Logits(s, theta)
	printed := p.Alpha/2*(own-p.M)*(own-p.M) + (other-1)*(other-1)/2 + 2*(rest-1)*(rest-1)/2
	near(t, "(30) as printed", printed, 10.220893, 5e-7)
	if math.Abs(printed-p.MSE(s, theta).Loss) < 1 {
		t.Error("(30) as printed agrees with ours")
	}
	limit := CELimit(2, .8)
	near(t, "limit ds", limit.DS, -0.696707, 5e-7)
	near(t, "limit dθ", limit.DTheta, 1.434712, 5e-7)
	printed35 := CEPrinted(2, .8)
	near(t, "(35) ds", printed35.DS, 0.010431, 5e-7)
	near(t, "(35) dθ", printed35.DTheta, 1.428662, 5e-7)
	far := Params{100_000_000, 1, 1}.CE(2, .8)
	near(t, "ds at K = 1e8", far.DS, limit.DS, 1e-4)
	near(t, "dθ at K = 1e8", far.DTheta, limit.DTheta, 1e-4)
}

// The limit of the squared loss, and its gradient (s, αMs) at a right angle.
func TestMSELimit(t *testing.T) {
	p := Params{K: 1e9, Alpha: 5, M: 2}
	for _, theta := range []float64{.3, 1, 2} {
		a, b := p.MSE(1.4, theta), p.MSELimit(1.4, theta)
		near(t, "loss", a.Loss, b.Loss, 1e-8)
		near(t, "ds", a.DS, b.DS, 1e-8)
		near(t, "dθ", a.DTheta, b.DTheta, 0)
	}
	v := p.MSELimit(1.5, math.Pi/2)
	near(t, "ds at π/2", v.DS, 1.5, 1e-12)
	near(t, "dθ at π/2", v.DTheta, 5*2*1.5, 1e-12)
}

// On random simplex ETFs the closed forms are the losses of the actual classifier, and gradients are
// central differences.
func TestRandomSimplexETF(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Params{K: rapid.IntRange(3, 9).Draw(t, "K"), Alpha: rapid.Float64Range(.2, 20).Draw(t, "α"), M: rapid.Float64Range(.2, 10).Draw(t, "M")}
		d := p.K - 1 + rapid.IntRange(0, 3).Draw(t, "extra")
		s, theta := rapid.Float64Range(.01, 5).Draw(t, "s"), rapid.Float64Range(0, math.Pi).Draw(t, "θ")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		frame, err := etf.Simplex(p.K, d)
		if err != nil {
			t.Fatal(err)
		}
		w := mat.DenseCopyOf(etf.Rotate(frame, d, rng).T()).RawMatrix().Data
		class := rng.IntN(p.K)
		plane, err := NewPlane(w, nil, p.K, d, class, (class+1)%p.K)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range map[string][2]Value{
			"ce": {p.CE(s, theta), plane.CE(s, theta)}, "mse": {p.MSE(s, theta), plane.MSE(s, theta, p.Alpha, p.M)},
		} {
			size := 1e-12 * (1 + p.Alpha*(1+p.M)*(1+p.M)*25)
			if !(math.Abs(v[0].Loss-v[1].Loss) <= size && math.Abs(v[0].DS-v[1].DS) <= size && math.Abs(v[0].DTheta-v[1].DTheta) <= size) {
				t.Fatalf("%s: closed form %+v, classifier %+v", name, v[0], v[1])
			}
		}
		const h = 1e-5
		for name, f := range map[string]func(s, theta float64) Value{"ce": p.CE, "mse": p.MSE} {
			v := f(s, theta)
			ds, dt := (f(s+h, theta).Loss-f(s-h, theta).Loss)/(2*h), (f(s, theta+h).Loss-f(s, theta-h).Loss)/(2*h)
			size := 1e-7 * (1 + p.Alpha*(1+p.M)*25)
			if !(math.Abs(v.DS-ds) <= size && math.Abs(v.DTheta-dt) <= size) {
				t.Fatalf("%s: gradient %+v, differences %g %g", name, v, ds, dt)
			}
		}
		x, y := s*math.Cos(theta), s*math.Sin(theta)
		h1 := make([]float64, d)
		for i := range h1 {
			h1[i] = x*plane.e1[i] + y*plane.e2[i]
		}
		if gs, gt := plane.Place(h1); !(math.Abs(gs-s) <= 1e-12 && math.Abs(math.Remainder(gt-theta, 2*math.Pi)) <= 1e-9) {
			t.Fatalf("placed at (%g, %g), wanted (%g, %g)", gs, gt, s, theta)
		}
	})
}

// Shares at K = 10: where the loss turns a feature more than it grows it.
func TestAngleShare(t *testing.T) {
	for name, r := range map[string]struct {
		loss func(s, theta float64) Value
		want float64
	}{
		"ce": {Params{10, 1, 1}.CE, .82}, "mse": {Params{10, 1, 1}.MSE, .13}, "α=5": {Params{10, 5, 1}.MSE, .52},
		"α=20": {Params{10, 20, 1}.MSE, .70}, "M=5": {Params{10, 1, 5}.MSE, .89}, "M=10": {Params{10, 1, 10}.MSE, .82},
	} {
		near(t, name, AngleShare(r.loss, 400), r.want, .006)
	}
}

func TestPlaneRefuses(t *testing.T) {
	w := []float64{1, 0, 2, 0, 0, 1}
	for _, pair := range [][2]int{{0, 0}, {0, 1}, {0, 3}, {-1, 1}} {
		if _, err := NewPlane(w, nil, 3, 2, pair[0], pair[1]); err == nil {
			t.Errorf("rows %v passed", pair)
		}
	}
	if err := (Params{2, 0, -1}).Validate(); err == nil {
		t.Error("wrong settings passed")
	}
}
