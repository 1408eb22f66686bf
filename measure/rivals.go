package measure

import "slices"

// rowOrder returns the rows of W with those of the given classes first, both parts ascending; nil if that is their order.
func rowOrder(classes []int, rows int) []int {
	if classes == nil {
		return nil
	}
	order, at := append(make([]int, 0, rows), classes...), 0
	for j := range rows {
		if at < len(classes) && classes[at] == j {
			at++
			continue
		}
		order = append(order, j)
	}
	return order
}

// sameLead reports whether an order of rows begins with the given classes.
func sameLead(order, classes []int, k int) bool {
	for c := range k {
		row, class := c, c
		if order != nil {
			row = order[c]
		}
		if classes != nil {
			class = classes[c]
		}
		if row != class {
			return false
		}
	}
	return true
}

// arrange returns the elements of x (rows of width d) in an order; nil: x itself.
func arrange(x []float64, order []int, d int) []float64 {
	if order == nil || x == nil {
		return x
	}
	out := make([]float64, 0, len(x))
	for _, j := range order {
		out = append(out, x[j*d:][:d]...)
	}
	return out
}

// newHeads converts and checks a classifier whose first k rows, in the given order, belong to the present classes, and returns those as
// a head. Its rivals are all rows; its centre w_G, which all share, is the mean of the first k.
func newHeads(to *head, w, b []float64, order []int, rows, k, d int) (*head, error) {
	if err := checkRows(w, b, rows, d); err != nil {
		return nil, err
	}
	if err := checkFinite("weight", w, d); err != nil {
		return nil, err
	}
	if err := checkFinite("bias", b, 1); err != nil {
		return nil, err
	}
	if err := setHead(to, arrange(w, order, d), arrange(b, order, 1), rows, d); err != nil {
		return nil, err
	}
	if k == rows {
		return to, nil
	}
	to.centreOn(k)
	return &head{w: to.w[:k*d], b: to.b[:k], k: k, d: d, centre: to.centre, centred: to.centred[:k*d],
		norms: to.norms[:k], centredNorm: to.centredNorm[:k], rivals: to}, nil
}

// checkRows checks the shape of a classifier.
func checkRows(w, b []float64, rows, d int) error {
	if len(w) != rows*d {
		return &ShapeError{What: "weight elements", Found: len(w), Want: rows * d, Hint: "W is classes × width, as PyTorch stores it; transpose W if it is stored the other way"}
	}
	if b != nil && len(b) != rows {
		return &ShapeError{What: "bias elements", Found: len(b), Want: rows}
	}
	return nil
}

// decisions makes the second pass over the train split. If W has rows of absent classes, argmax runs over all rows while margins use
// only the present ones, which takes a separate pass.
func (e *Engine[T]) decisions(s *samples[T], h *head, ask asked, mem *memorization) error {
	if h == nil || h.rivals == nil || !ask.logits {
		return e.secondRun(s, h, ask, mem)
	}
	if !ask.margins {
		return e.secondRun(s, h.rivals, ask, mem)
	}
	if err := e.secondRun(s, h.rivals, asked{im: ask.im, nearest: ask.nearest, logits: true}, nil); err != nil {
		return err
	}
	correct, mismatch := slices.Clone(s.sampleCounts.correct), slices.Clone(s.sampleCounts.mismatch)
	if err := e.secondRun(s, h, ask, mem); err != nil {
		return err
	}
	copy(s.sampleCounts.correct, correct)
	copy(s.sampleCounts.mismatch, mismatch)
	return nil
}
