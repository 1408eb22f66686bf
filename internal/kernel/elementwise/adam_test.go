package elementwise

import (
	"math"
	"math/rand/v2"
	"testing"

	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/kernel/kerneltest"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/parallel"
)

// TestAdamMatchesGeneric: the SIMD loop gives the generic one's bits at every length and offset, special
// values included, and writes nowhere else.
func TestAdamMatchesGeneric(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	rule := adamRule[float32]{decay: 1e-3, beta1: 0.9, take1: 0.1, beta2: 0.999, take2: 1e-3, root: 0.05, eps: 1e-8, rate: 0.02}
	for _, name := range isa.Available() {
		kerneltest.Use(t, name)
		for n := range 3*16 + 2 {
			for offset := range 17 {
				var got, want [4][]float32
				for i := range got {
					got[i] = kerneltest.Guarded(offset + n + 16)
					kerneltest.FillSpecial(rng, got[i][offset:][:n])
					want[i] = append([]float32(nil), got[i]...)
				}
				cut := func(x [4][]float32, i int) []float32 { return x[i][offset:][:n] }
				adam(rule, cut(got, 0), cut(got, 1), cut(got, 2), cut(got, 3))
				adamGeneric(rule, cut(want, 0), cut(want, 1), cut(want, 2), cut(want, 3))
				for i := range got {
					for j, w := range want[i] {
						if g := got[i][j]; math.Float32bits(g) != math.Float32bits(w) && !(g != g && w != w) {
							t.Fatalf("%s n=%d offset=%d array %d: [%d] = %v, generic %v", name, n, offset, i, j-offset, g, w)
						}
						if outside := j < offset || j >= offset+n; outside && math.Float32bits(got[i][j]) != kerneltest.Guard {
							t.Fatalf("%s n=%d offset=%d array %d: wrote at %d", name, n, offset, i, j-offset)
						}
					}
				}
			}
		}
	}
}

func TestAdamPanics(t *testing.T) {
	x, y := make([]float32, 3), make([]float32, 2)
	for name, call := range map[string]func(a *Adam[float32]){
		"lengths": func(a *Adam[float32]) { a.Update(nil, AdamRule{Step: 1}, x, y, x, x) },
		"moments": func(a *Adam[float32]) { a.Update(nil, AdamRule{Step: 1}, x, x, x, y) },
		"step 0":  func(a *Adam[float32]) { a.Update(nil, AdamRule{}, x, x, x, x) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call(NewAdam[float32]())
		}()
	}
}

// BenchmarkAdam updates as many parameters as ResNet18 has.
func BenchmarkAdam(b *testing.B) {
	const n = 11_181_642
	var x [4][]float32
	for i := range x {
		x[i] = memory.Alloc[float32](n)
		for j := range x[i] {
			x[i][j] = 1e-3 * float32(j%97)
		}
	}
	tm := parallel.NewTeam(0)
	defer tm.Close()
	a := NewAdam[float32]()
	b.SetBytes(4 * n * 7)
	for b.Loop() {
		a.Update(tm, AdamRule{Rate: 1e-4, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Decay: 1e-4, Step: 5}, x[0], x[1], x[2], x[3])
	}
}
