package measure

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestSumsThatAreCompensated are those of exact arithmetic up to the last bits, where large numbers cancel among small ones, in either order.
func TestSumsThatAreCompensated(t *testing.T) {
	const rows, k, d = 600, 2, 3
	r := rand.New(rand.NewPCG(3, 4))
	h, class := make([]float64, rows*d), make([]int32, rows)
	exact := make([]*big.Float, k*d)
	for i := range exact {
		exact[i] = new(big.Float).SetPrec(2000)
	}
	large := make([]float64, k*d)
	for i := range rows {
		class[i] = int32(i % k)
		for j := range d {
			at, x := int(class[i])*d+j, 1+r.Float64()
			switch i / k % 3 { // a small number, a large one, and the large one back
			case 1:
				large[at] = math.Ldexp(1+r.Float64(), 70)
				x = large[at]
			case 2:
				x = -large[at]
			}
			h[i*d+j] = x
			exact[at].Add(exact[at], new(big.Float).SetFloat64(x))
		}
	}
	s := &samples[float64]{src: Memory(h, d, class).Features, rows: rows, d: d, k: k, class: class, means: make([]float64, k*d)}
	if err := s.resum(); err != nil {
		t.Fatal(err)
	}
	for i, got := range s.means {
		want, _ := exact[i].Float64()
		if math.Abs(got-want) > 100*roundoff64*math.Abs(want) || want == 0 {
			t.Errorf("sum %d is %g, and exactly %g", i, got, want)
		}
	}
}
