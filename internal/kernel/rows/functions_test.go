package rows

import (
	"math"
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/kerneltest"
)

// ulps is how many numbers lie between two finite ones of one sign.
func ulps(a, b float64) float64 {
	return math.Abs(float64(int64(math.Float64bits(a)) - int64(math.Float64bits(b))))
}

// logOf is math.Log, which is wrong for subnormal numbers on amd64 (Go 1.26).
func logOf(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p100) - 100*math.Ln2
	}
	return math.Log(x)
}

// TestLogsAndExps compares with package math: within an ulp or two, and equal where that is infinite, zero or no number.
func TestLogsAndExps(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	tiny, huge := math.SmallestNonzeroFloat64, math.MaxFloat64
	logs := []float64{0, 1, tiny, 3 * tiny, 1e-310, huge, math.Inf(1), math.NaN(), -1, math.Inf(-1), .75, 1.5, math.Nextafter(1, 0), math.Nextafter(1, 2)}
	exps := []float64{0, 1, -1, 709, 709.79, -708.3, -744.4, -745.2, -1e300, 1e300, math.Inf(1), math.Inf(-1), math.NaN(), 1e-20, -1e-20, tiny}
	for range 20_000 {
		logs = append(logs, math.Exp(rng.NormFloat64()*100), 1+rng.NormFloat64()*1e-3, 2*rng.Float64())
		exps = append(exps, rng.NormFloat64()*200, rng.NormFloat64()*1e-3, -rng.ExpFloat64())
	}
	for _, name := range isa.Available() {
		kerneltest.Use(t, name)
		for _, f := range []struct {
			name string
			of   func(dst, x []float64)
			want func(float64) float64
			in   []float64
			most float64
		}{{"log", Logs, logOf, logs, 2}, {"exp", Exps, math.Exp, exps, 2}} {
			got, worst := make([]float64, len(f.in)), 0.0
			f.of(got, f.in)
			for j, x := range f.in {
				want := f.want(x)
				if kerneltest.SameFloat(got[j], want) {
					continue
				}
				away := ulps(got[j], want)
				if math.IsInf(want, 0) || want == 0 || want != want || got[j] != got[j] || want*got[j] < 0 || !(away <= f.most) {
					t.Fatalf("%s: %s(%g) = %.17g, want %.17g (%g ulp)", name, f.name, x, got[j], want, away)
				}
				worst = max(worst, away)
			}
			t.Logf("%s: %s: at most %g ulp off", name, f.name, worst)
		}
	}
}

// TestFunctionsMatchGeneric wants the bits of the generic versions, in place and wherever an element stands.
func TestFunctionsMatchGeneric(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, name := range isa.Available()[1:] {
		for n := range 3*kernel.Parts + 2 {
			a, b, positive := make([]float64, n), make([]float64, n), make([]float64, n)
			narrow := make([]float32, n)
			for j := range a {
				a[j], b[j], positive[j] = rng.NormFloat64()*30, rng.NormFloat64(), rng.ExpFloat64()
				narrow[j] = float32(b[j])
			}
			results := func(set string) (out []float64) {
				kerneltest.Use(t, set)
				logs, exps := append([]float64(nil), positive...), make([]float64, n)
				Logs(logs, logs)
				Exps(exps, a)
				sum, squares := SumsAbout(a, .3)
				return append(append(append(out, logs...), exps...), Dot(a, b), Dot(a, narrow), sum, squares)
			}
			got, want := results(name), results("generic")
			for j := range want {
				if !kerneltest.SameFloat(got[j], want[j]) {
					t.Fatalf("%s n=%d: result %d is %.17g, want the bits of %.17g", name, n, j, got[j], want[j])
				}
			}
			plain := 0.0
			for j := range a {
				plain += a[j] * b[j]
			}
			if n > 0 && !(math.Abs(want[2*n]-plain) <= 1e-12*(1+math.Abs(plain))) {
				t.Fatalf("n=%d: dot %.17g, want %.17g", n, want[2*n], plain)
			}
		}
	}
}
