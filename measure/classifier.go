package measure

import (
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/measure/internal/wide"
)

// head is the classifier.
type head struct {
	w, b        []float64 // (K×d) the caller's, (K); b is zero for a classifier without bias
	k, d        int
	centre      []float64 // (d) w_G, the mean of the rows
	centred     []float64 // (K×d) w_k − w_G
	norms       []float64 // (K) ‖w_k‖
	centredNorm []float64 // (K) ‖w_k − w_G‖
	rivals      *head     // these rows and those of absent classes; nil: none
}

// setHead checks a classifier of k classes and width d. It keeps w without changing it.
func setHead(h *head, w, b []float64, k, d int) error {
	if err := checkRows(w, b, k, d); err != nil {
		return err
	}
	h.k, h.d, h.w, h.rivals = k, d, w, nil
	h.b = grow(h.b, k)
	clear(h.b)
	copy(h.b, b)
	if err := checkFinite("weight", h.w, d); err != nil {
		return err
	}
	if err := checkFinite("bias", h.b, 1); err != nil {
		return err
	}
	h.centreOn(k)
	return nil
}

// centreOn makes w_G the mean of the first k rows, and fills the fields that depend on it.
func (h *head) centreOn(k int) {
	d := h.d
	h.centre = grow(h.centre, d)
	clear(h.centre)
	for c := range k {
		rows.AddRow(h.centre, h.w[c*d:][:d])
	}
	scale(h.centre, 1/float64(k))
	h.centred = grow(h.centred, h.k*d)
	h.norms, h.centredNorm = grow(h.norms, h.k), grow(h.centredNorm, h.k)
	for c := range h.k {
		row := h.centred[c*d:][:d]
		rows.SubRow(row, h.w[c*d:][:d], h.centre)
		h.norms[c], h.centredNorm[c] = norm(h.w[c*d:][:d]), norm(row)
	}
}

// wide converts the classifier for the wide pass.
func (h *head) wide() *wide.Classifier {
	return &wide.Classifier{W: h.w, B: h.b, K: h.k, D: h.d, Centred: h.centred, Norms: h.norms, CentredNorm: h.centredNorm}
}

// logit returns w_j·x + b_j.
func (h *head) logit(j int, x []float64) float64 { return dot(h.w[j*h.d:][:h.d], x) + h.b[j] }
