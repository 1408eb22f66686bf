package measure

import "math"

// chooser decides for a sample by products with x = h − h_G: which training centre is nearest and which logit is largest.
// Cases that products leave within rounding are decided by differences and dot products of the vectors themselves, so
// that ties go to the lower class.
type chooser struct {
	means, half []float64 // (K×d) μ_k, (K) ‖c_k‖²/2 with c_k = μ_k − h_G
	longest     float64   // largest ‖c_k‖
	offset      float64   // ‖h_G‖
	head        *head     // nil: none
	base        []float64 // (rows of W) w_k·h_G + b_k
	widest      float64   // largest ‖w_k‖
	largestBase float64   // largest |base|
	k, d        int
}

func newChooser(means, centred, centre []float64, h *head, k, d int) *chooser {
	c := &chooser{means: means, half: make([]float64, k), offset: norm(centre), head: h, k: k, d: d}
	for j := range k {
		square := dot(centred[j*d:][:d], centred[j*d:])
		c.half[j] = square / 2
		c.longest = max(c.longest, math.Sqrt(square))
	}
	if h != nil {
		c.base = make([]float64, h.k)
		for j := range h.k {
			c.base[j] = h.logit(j, centre)
			c.widest, c.largestBase = max(c.widest, h.norms[j]), max(c.largestBase, math.Abs(c.base[j]))
		}
	}
	return c
}

// nearest returns argmin_k ‖h − μ_k‖ for a sample h (wide: in float64) with x = h − h_G and y_k = c_k·x.
func (c *chooser) nearest(wide, x, y []float64) int {
	length := norm(x) + c.longest
	bound := 4 * eps64 * length * (float64(c.d)*length + c.offset)
	return decide(y, c.half, -1, bound, func(j int) float64 { return -distance2(wide, c.means[j*c.d:][:c.d]) })
}

// largest returns argmax_k (w_k·h + b_k), y_k = w_k·x.
func (c *chooser) largest(wide, x, y []float64) int {
	length := norm(x) + c.offset
	bound := 4 * eps64 * (float64(c.d)*c.widest*length + c.largestBase)
	return decide(y, c.base, 1, bound, func(j int) float64 { return c.head.logit(j, wide) })
}

// decide returns argmax_j y_j + sign·z_j, each known within bound; if several are possible, exact decides.
func decide(y, z []float64, sign, bound float64, exact func(j int) float64) int {
	best, most := 0, math.Inf(-1)
	for j, v := range y {
		if v += sign * z[j]; v > most {
			best, most = j, v
		}
	}
	rivals, first := 0, best
	for j, v := range y {
		if v+sign*z[j] >= most-2*bound {
			if rivals == 0 {
				first = j
			}
			rivals++
		}
	}
	if rivals < 2 {
		return best
	}
	best, top := first, exact(first)
	for j := first + 1; j < len(y); j++ {
		if y[j]+sign*z[j] >= most-2*bound {
			if v := exact(j); v > top {
				best, top = j, v
			}
		}
	}
	return best
}

// hits are counts over classes.
type hits struct{ nearest, mismatch []int }

// testCentres fills nearest-centre accuracy and mismatch of test samples with the training centres.
func (e *Engine[T]) testCentres(b *builder, h *head) error {
	train := &e.train
	if train.k < 2 || !b.any(KeyTestNCCAccuracy, KeyTestNCCMismatch) {
		return nil
	}
	total, err := e.chooseTest(h)
	if err != nil {
		return err
	}
	e.testRate(b, KeyTestNCCAccuracy, "test_ncc_accuracy", total.nearest)
	if h != nil {
		e.testRate(b, KeyTestNCCMismatch, "test_ncc_mismatch", total.mismatch)
	}
	return nil
}

// chooseTest counts, over test samples by class, those nearest to their class's training centre, and those that the classifier
// assigns to a class other than that of the nearest training centre.
func (e *Engine[T]) chooseTest(h *head) (hits, error) {
	train, test := &e.train, &e.test
	k, d := train.k, train.d
	if h != nil && h.rivals != nil {
		h = h.rivals
	}
	own := make([]int, test.k) // the train class of each test class, −1: none
	for c := range own {
		own[c] = -1
		if at, there := train.place(test.number(c)); there {
			own[c] = at
		}
	}
	c := newChooser(train.means, train.centred, train.centre, h, k, d)
	stack := append([]float64(nil), train.centred[:k*d]...)
	if h != nil {
		stack = append(stack, h.w...)
	}
	var parts []hits
	var wides [][]float64
	p := products[T]{s: test, centre: train.centre, stack: stack, visit: func(part, row int, raw []T, x, y []float64) {
		wides[part] = inFloat64(wides[part], raw)
		class := int(test.class[row])
		near := c.nearest(wides[part], x, y[:k])
		if near == own[class] {
			parts[part].nearest[class]++
		}
		if h != nil && c.largest(wides[part], x, y[k:]) != near {
			parts[part].mismatch[class]++
		}
	}}
	err := p.run(e.opt.Team, func(n int) {
		parts, wides = make([]hits, n), make([][]float64, n)
		for i := range parts {
			parts[i] = hits{make([]int, test.k), make([]int, test.k)}
		}
	})
	total := hits{make([]int, test.k), make([]int, test.k)}
	for i := range parts {
		for c := range test.k {
			total.nearest[c] += parts[i].nearest[c]
			total.mismatch[c] += parts[i].mismatch[c]
		}
	}
	return total, err
}
