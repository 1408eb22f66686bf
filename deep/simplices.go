package deep

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Simplices is the best point of cross entropy with linear layers whose logits are simplices side by side, Z = ⊕ s_b·(I − 11ᵀ/m_b), in
// blocks of m_b classes as equal as can be. One block is neural collapse (Symmetric); K/2 blocks [[y, −y], [−y, y]] are the
// points of rank K/2 by which Garrod & Keating 2025 (arXiv:2410.23169) show that neural collapse is not optimal. Of their text the abstract was read: the
// proof in docs/internal/formulas.md is ours.
type Simplices struct {
	Objective float64   `json:"objective"`
	Sizes     []int     `json:"sizes"`  // classes of each block
	Scales    []float64 `json:"scales"` // s of each block, its singular value: of two classes 2y
	Rank      int       `json:"rank"`   // of the logits
	Lower     bool      `json:"lower"`  // Objective lies below that of Symmetric by more than 1e-9 of it: neural collapse is not optimal (proved by this point)
	Always    bool      `json:"always"` // so it does at all penalties at which neural collapse is not zero (proved)
}

// Simplices chooses the number of blocks, at least two. With zeros between blocks both the penalty and the error add up, since a class's other logits
// are 0 outside its block. So each block's scale minimises a function of its own.
func (c Config) Simplices() (Simplices, error) {
	if err := c.Validate(); err != nil {
		return Simplices{}, err
	}
	if !c.CE || c.ReLU {
		return Simplices{}, fmt.Errorf("deep: simplices side by side are points of cross entropy without a ReLU")
	}
	if c.K < 4 {
		return Simplices{}, fmt.Errorf("deep: K is %d, wanted at least 4 for two blocks of two classes", c.K)
	}
	narrowest, scales := slices.Min(append([]int{c.K}, c.Widths...)), map[int]scaled{}
	best, always := Simplices{Objective: math.Inf(1)}, false
	for blocks := 2; blocks <= c.K/2; blocks++ {
		if c.K-blocks > narrowest {
			continue
		}
		one := c.sideBySide(blocks, scales)
		always = always || c.always(one.Sizes)
		if one.Objective < best.Objective {
			best = one
		}
	}
	if best.Sizes == nil {
		return Simplices{}, fmt.Errorf("deep: width %d is below K − ⌊K/2⌋ = %d, wanted at least that for simplices side by side", narrowest, c.K-c.K/2)
	}
	if narrowest >= c.K-1 { // neural collapse exists
		best.Lower = best.Objective < c.simplex(c.K).cost*(1-lowerBy)
		best.Always = always
	}
	return best, nil
}

// sideBySide are so many blocks; scales keeps those of sizes that were met.
func (c Config) sideBySide(blocks int, scales map[int]scaled) (out Simplices) {
	for b := range blocks {
		m := c.K / blocks
		if b < c.K%blocks {
			m++
		}
		one, ok := scales[m]
		if !ok {
			one = c.simplex(m)
			scales[m] = one
		}
		out.Sizes, out.Scales = append(out.Sizes, m), append(out.Scales, one.at)
		out.Objective += one.cost
		if one.at > 0 {
			out.Rank += m - 1
		}
	}
	return out
}

// scaled is the scale that costs least, and what it costs.
type scaled struct{ at, cost float64 }

// simplex is the best scale of a block of m classes: its logits are s·(m−1)/m and −s/m, and it has m − 1 singular values s, at the price
// of Solve. Its share of the objective is
//
//	(m/K)·log(1 + (m−1)e^{−s} + (K−m)e^{−s(m−1)/m}) + (M/2)(nΠλ)^{1/M}(m−1)·s^{2/M}
func (c Config) simplex(m int) scaled {
	K, M, size := float64(c.K), float64(c.Layers()+1), float64(m)
	price := M / 2 * c.q() / K * (size - 1)
	return leastScale(size/K*math.Log(K), func(s float64) float64 {
		return size/K*math.Log1p((size-1)*math.Exp(-s)+(K-size)*math.Exp(-s*(size-1)/size)) + price*math.Pow(s, 2/M)
	})
}

// always reports whether blocks of these sizes lie below neural collapse at all penalties at which that is not zero: with its margin x to
// all classes outside a block, so s = x·m/(m−1), no error is larger, and those inside are smaller. The penalty is not if
// Σ (m−1)·(m/(m−1))^{2/M} ≤ K − 1.
func (c Config) always(sizes []int) bool {
	sum, M := 0.0, float64(c.Layers()+1)
	for _, m := range sizes {
		size := float64(m)
		sum += (size - 1) * math.Pow(size/(size-1), 2/M)
	}
	return sum <= float64(c.K-1)
}

// PlaceSimplices is the point of the blocks: all factors share its singular vectors, and of each singular value the same part of the penalty.
func (c Config) PlaceSimplices(s Simplices) Point {
	p, M := c.point(make([]float64, c.size())), float64(c.Layers()+1)
	lambdas := c.penalties()
	class, row := 0, 0
	for b, m := range s.Sizes {
		axes := simplexAxes(m)
		for i, l := range lambdas {
			size := math.Exp((math.Log(c.q()/float64(c.K)) - math.Log(l)) / 2) // √(geometric mean of the penalties / λ_i): their product is 1
			part := mat.NewDense(m-1, m-1, nil)
			for j := range m - 1 {
				part.Set(j, j, size*math.Pow(s.Scales[b], 1/M))
			}
			at := [2]int{row, row}
			if i == 0 {
				part, at[0] = product(axes, part), class
			}
			if i == c.Layers() {
				part, at[1] = product(part, axes.T()), class
			}
			put(p[i], at[0], at[1], part)
		}
		class, row = class+m, row+m-1
	}
	return p
}

func product(a, b mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Mul(a, b)
	return &out
}

// simplexAxes are m − 1 orthonormal columns of R^m that sum to zero (Helmert's).
func simplexAxes(m int) *mat.Dense {
	out := mat.NewDense(m, m-1, nil)
	for j := range m - 1 {
		norm := math.Sqrt(float64((j + 1) * (j + 2)))
		for i := range j + 1 {
			out.Set(i, j, 1/norm)
		}
		out.Set(j+1, j, -float64(j+1)/norm)
	}
	return out
}
