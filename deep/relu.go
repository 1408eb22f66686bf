package deep

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Known is a point of a model with ReLUs: blocks of classes side by side, of which some may be zero. It is the best of those that the list
// of blocks allows, so an upper bound of the optimum.
type Known struct {
	Name      string  `json:"name"` // its blocks
	Objective float64 `json:"objective"`
	Rank      int     `json:"rank"`     // of the features before the last ReLU
	Collapse  float64 `json:"collapse"` // objective of neural collapse: orthogonal features in every layer, or zero if that is lower
	Lower     bool    `json:"lower"`    // Objective is below Collapse by more than 1e-9 of it: neural collapse is not optimal (proved by this point)

	placed []placed
}

// placed is one block of a point.
type placed struct {
	block
	plan
}

// rank of the block's features before the last ReLU; with two layers these need no common part.
func (b placed) rank(L int) int {
	if b.t != nil && L == 2 && math.Abs(b.common[1]) < negligible*b.apart[1] {
		return b.rows() - 1
	}
	return b.rows()
}

// mostClasses bounds the models whose blocks are chosen: the work grows with K².
const mostClasses = 1000

// lowerBy is the share of the objective by which a point must lie lower to count as lower.
const lowerBy = 1e-9

// Known chooses blocks.
func (c Config) Known() (Known, error) {
	if err := c.Validate(); err != nil {
		return Known{}, err
	}
	if !c.ReLU || c.CE || c.Layers() < 2 {
		return Known{}, fmt.Errorf("deep: blocks are known for squared error with a ReLU and at least 2 layers")
	}
	if c.K > mostClasses {
		return Known{}, fmt.Errorf("deep: K is %d, wanted at most %d with a ReLU", c.K, mostClasses)
	}
	linear := c
	linear.ReLU = false
	e, err := linear.Solve() // orthogonal features pass ReLUs unchanged
	if err != nil {
		return Known{}, err
	}
	rows := c.K
	for _, d := range c.Widths[1:] {
		rows = min(rows, d)
	}
	chosen := choose(c.offers(e), 1/(2*float64(c.K)), min(c.K, c.Widths[0]), rows)
	out := Known{Collapse: e.Objective, placed: chosen, Name: nameOf(chosen, c.K)}
	zeros := c.K
	for _, b := range chosen {
		zeros -= b.classes()
		out.Objective += b.cost
		out.Rank += b.rank(c.Layers())
	}
	out.Objective += float64(zeros) / (2 * float64(c.K))
	out.Lower = out.Objective < out.Collapse*(1-lowerBy)
	return out, nil
}

// offers are the blocks with their costs. A column of the frame costs what a direction of the linear optimum does.
func (c Config) offers(e Exact) []placed {
	var out []placed
	if e.Rank > 0 {
		each := (e.Objective - float64(c.K-e.Rank)/(2*float64(c.K))) / float64(e.Rank)
		single := placed{block: block{name: "orthogonal column", many: "orthogonal columns"}, plan: plan{cost: each}}
		for i := range e.Norms { // sizes of the factors, from W_L on
			single.apart = append(single.apart, math.Sqrt(e.Norms[i]/float64(e.Rank)/c.columns(i)))
		}
		out = append(out, single)
	}
	for _, b := range blockShapes() {
		if m := b.classes(); m <= c.K && m <= c.Widths[0] {
			out = append(out, placed{b, c.chain(b).best()})
		}
	}
	return out
}

// tie is what a block has to save beyond others to be taken: ties go to the frame's columns.
const tie = 1e-12

// choose takes the blocks that save most, for at most so many classes and rows, against classes at zero, which cost zero each.
func choose(offers []placed, zero float64, classes, rows int) []placed {
	type state struct {
		saved float64
		from  int // index of the block taken last; −1: none
	}
	table := make([][]state, classes+1)
	for k := range table {
		table[k] = make([]state, rows+1)
		for r := range table[k] {
			table[k][r] = state{0, -1}
			for i, b := range offers {
				if b.classes() > k || b.rows() > r {
					continue
				}
				saved := table[k-b.classes()][r-b.rows()].saved + zero*float64(b.classes()) - b.cost
				if saved > table[k][r].saved+tie {
					table[k][r] = state{saved, i}
				}
			}
		}
	}
	var out []placed
	for k, r := classes, rows; table[k][r].from >= 0; {
		b := offers[table[k][r].from]
		out = append(out, b)
		k, r = k-b.classes(), r-b.rows()
	}
	return out
}

// nameOf counts the blocks: "2 hexagons + 1 orthogonal column".
func nameOf(chosen []placed, K int) string {
	count, order, zeros := map[string]int{}, []placed(nil), K
	for _, b := range chosen {
		if count[b.name] == 0 {
			order = append(order, b)
		}
		count[b.name]++
		zeros -= b.classes()
	}
	var parts []string
	for _, b := range order {
		switch n := count[b.name]; {
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, b.many))
		case b.t == nil:
			parts = append(parts, "1 "+b.name)
		default:
			parts = append(parts, b.name)
		}
	}
	if zeros > 0 {
		parts = append(parts, fmt.Sprintf("%d at zero", zeros))
	}
	return strings.Join(parts, " + ")
}

// Place is the point of the blocks.
func (c Config) Place(k Known) Point {
	p := c.point(make([]float64, c.size()))
	class, row := 0, 0
	for _, b := range k.placed {
		if b.t == nil {
			c.placeColumn(p, b, class, row)
		} else {
			c.placeBlock(p, b, class, row)
		}
		class, row = class+b.classes(), row+b.rows()
	}
	return p
}

// placeColumn puts one class on an axis of its own in every layer: rows of the last features are counted like classes.
func (c Config) placeColumn(p Point, b placed, class, row int) {
	L := c.Layers()
	p[0].Set(class, class, b.apart[0])
	if L == 1 {
		return
	}
	p[1].Set(class, row, b.apart[1])
	for i := 2; i < L; i++ {
		p[i].Set(row, row, b.apart[i])
	}
	p[L].Set(row, class, b.apart[L])
}

func (c Config) placeBlock(p Point, b placed, class, row int) {
	L, rows := c.Layers(), b.rows()
	flat := func(x, s float64, t mat.Matrix) *mat.Dense { // x·11ᵀ/√(size) + s·t
		r, k := t.Dims()
		out := mat.NewDense(r, k, nil)
		out.Apply(func(i, j int, _ float64) float64 { return x/math.Sqrt(float64(r*k)) + s*t.At(i, j) }, out)
		return out
	}
	within := mat.NewDense(rows, rows, nil) // I − 11ᵀ/p
	within.Apply(func(i, j int, _ float64) float64 {
		v := -1 / float64(rows)
		if i == j {
			v++
		}
		return v
	}, within)
	put(p[L], row, class, flat(b.common[0], b.apart[0], b.t))
	for l := 1; l <= L-2; l++ {
		put(p[L-l], row, row, flat(b.common[l]/b.common[l-1], b.apart[l]/b.apart[l-1], within))
	}
	put(p[1], class, row, flat(b.common[L-1]/b.common[L-2], b.apart[L-1]/b.apart[L-2], b.u.T()))
	put(p[0], class, class, c.ridge(b))
}

func put(to *mat.Dense, row, column int, from *mat.Dense) {
	r, k := from.Dims()
	to.Slice(row, row+r, column, column+k).(*mat.Dense).Copy(from)
}

// ridge is the block's part of W_L: Aᵀ(AAᵀ + Kλ_L)⁻¹.
func (c Config) ridge(b placed) *mat.Dense {
	L := c.Layers()
	A, S := b.activations(b.apart[L-1], b.common[L-1]), new(mat.Dense)
	S.Mul(A, A.T())
	for i := range b.classes() {
		S.Set(i, i, S.At(i, i)+float64(c.K)*c.Lambdas[0])
	}
	var out mat.Dense
	if err := out.Solve(S, A); err != nil {
		panic("deep: a ridge has no solution: " + err.Error()) // S is positive definite
	}
	return mat.DenseCopyOf(out.T())
}
