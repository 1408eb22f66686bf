package featurefiles

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/measure/shards"
)

// matrix is the rows of several arrays below each other, N×d.
type matrix struct {
	role  Role
	parts []part
	first []int // first row of each part, and N at the end
	d     int

	turned bool // the arrays are stored d×N
}

// newMatrix joins parts. Axes of length 1 behind the second are dropped, as those of pooled images.
func newMatrix(r Role, parts []part) (*matrix, error) {
	m := &matrix{role: r, first: []int{0}}
	for i, p := range parts {
		if p.Categories != nil {
			return nil, fmt.Errorf("%s: the %s are text%s; want numbers", p.where(), r, textHint(p.Categories))
		}
		shape := p.Shape
		for len(shape) > 2 && shape[len(shape)-1] == 1 {
			shape = shape[:len(shape)-1]
		}
		if len(shape) != 2 {
			return nil, fmt.Errorf("%s: %s of shape %s; want samples × width: %s", p.where(), r, size(p.Shape), shapeHint(len(shape)))
		}
		if shape[1] == 0 {
			return nil, fmt.Errorf("%s: %s of width 0; want at least 1", p.where(), r)
		}
		if i == 0 {
			m.d = shape[1]
		}
		if shape[1] != m.d {
			return nil, fmt.Errorf("shards of the %s differ in width: %s is %d wide, %s is %d wide; different models or layers are measured one by one", r, parts[0].where(), m.d, p.where(), shape[1])
		}
		p.Shape = shape
		m.parts = append(m.parts, p)
		m.first = append(m.first, m.first[i]+shape[0])
	}
	if m.rows() == 0 {
		return nil, fmt.Errorf("%s: the %s have no row", parts[0].where(), r)
	}
	return m, nil
}

// textHint shows the first word of a column that should hold numbers, and says what cut it short.
func textHint(words []string) string {
	switch {
	case len(words) == 0:
		return ""
	case strings.HasPrefix(words[0], "[") && strings.Contains(words[0], "..."):
		return fmt.Sprintf(", such as %.40q: numpy writes no more than 1000 numbers of a list as text; in Python: numpy.savez(\"x.npz\", features=H, labels=y)", words[0])
	}
	return fmt.Sprintf(", such as %.40q", words[0])
}

// hint says what n labels suggest of rows that are not as many.
func (m *matrix) hint(n int) string {
	switch {
	case n != m.d:
		return ""
	case m.turned:
		return "; leave out --transpose-features"
	}
	return "; the features seem to be stored d×N: give --transpose-features"
}

// turned returns matrices as their transposes: the same numbers in the other order.
func turned(parts []part) []part {
	out := slices.Clone(parts)
	for i := range out {
		if p := &out[i]; len(p.Shape) == 2 {
			p.Shape, p.Fortran = []int{p.Shape[1], p.Shape[0]}, !p.Fortran
		}
	}
	return out
}

func shapeHint(axes int) string {
	if axes < 2 {
		return "give a single column the shape N×1"
	}
	return "pool or flatten the other axes first"
}

func (m *matrix) rows() int { return m.first[len(m.first)-1] }

// locate returns the part of a row and the row's place in it.
func (m *matrix) locate(row int) (part, int) {
	i := sort.SearchInts(m.first, row+1) - 1
	return m.parts[i], row - m.first[i]
}

// wide reports whether float32 cannot hold the elements.
func (m *matrix) wide() bool {
	for _, p := range m.parts {
		switch p.DType {
		case arrayfile.F64, arrayfile.I32, arrayfile.U32, arrayfile.I64, arrayfile.U64:
			return true
		}
	}
	return false
}

// newSource gives the rows to the engine: views of the files where their layout allows it.
func newSource[T float32 | float64](m *matrix) (measure.Source[T], error) {
	parts := make([]measure.Source[T], len(m.parts))
	for i, p := range m.parts {
		var err error
		if parts[i], err = shards.Of[T](p.Array); err != nil {
			return nil, fmt.Errorf("%s: %w", p.where(), err)
		}
	}
	return measure.Join(parts...)
}
