package dd

import (
	"cmp"
	"math"
	"slices"
)

// A matrix is a slice of its rows.

// Transpose returns xᵀ.
func Transpose(x [][]DD) [][]DD {
	t := make([][]DD, len(x[0]))
	for j := range t {
		t[j] = make([]DD, len(x))
		for i := range x {
			t[j][i] = x[i][j]
		}
	}
	return t
}

// Clone copies x.
func Clone(x [][]DD) [][]DD {
	c := make([][]DD, len(x))
	for i := range x {
		c[i] = append([]DD(nil), x[i]...)
	}
	return c
}

// Identity returns the n×n unit matrix.
func Identity(n int) [][]DD {
	x := make([][]DD, n)
	for i := range x {
		x[i] = make([]DD, n)
		x[i][i] = Of(1)
	}
	return x
}

// Singular returns the min(m, n) singular values of x (m×n), descending, and the right singular vectors as rows, by
// one-sided Jacobi rotations of the shorter side (Demmel & Veselić 1992): small singular values keep their digits as
// far as the conditioning of scaled rows allows. Values below floor are 0 and their directions are zero rows.
func Singular(x [][]DD, floor DD) (values []DD, directions [][]DD) {
	if len(x) <= len(x[0]) {
		rows := Clone(x)
		rotateRows(rows, nil, floor)
		return sorted(rows, nil, floor)
	}
	rows := Transpose(x)
	turn := Identity(len(rows))
	rotateRows(rows, turn, floor)
	return sorted(rows, turn, floor)
}

// SingularValues is Singular without directions.
func SingularValues(x [][]DD, floor DD) []DD {
	rows := Clone(x)
	if len(x) > len(x[0]) {
		rows = Transpose(x)
	}
	rotateRows(rows, nil, floor)
	values, _ := sorted(rows, nil, floor)
	return values
}

// sorted returns the lengths of rows, descending, with turn's rows or, without turn, the unit vectors of rows.
func sorted(rows, turn [][]DD, floor DD) (values []DD, directions [][]DD) {
	type pair struct {
		value     DD
		direction []DD
	}
	all := make([]pair, len(rows))
	for i, row := range rows {
		p := pair{value: Norm(row)}
		if turn != nil {
			p.direction = turn[i]
		}
		switch {
		case !floor.Less(p.value):
			p = pair{direction: make([]DD, len(row))}
			if turn != nil {
				p.direction = make([]DD, len(turn[i]))
			}
		case turn == nil:
			p.direction = make([]DD, len(row))
			inverse := Of(1).Div(p.value)
			for j, a := range row {
				p.direction[j] = a.Mul(inverse)
			}
		}
		all[i] = p
	}
	slices.SortStableFunc(all, func(a, b pair) int { return b.value.Cmp(a.value) })
	for _, p := range all {
		values, directions = append(values, p.value), append(directions, p.direction)
	}
	return values, directions
}

// orthogonal is the cosine of two rows that counts as 0. Sweeps continue until none is larger: where singular values are equal, the
// angles of rotations are not small, and a sweep need not square the remainder.
const orthogonal = 0x1p-96

// rotateRows makes rows orthogonal; turn, if not nil, is rotated with them. Rows shorter than floor are left alone.
func rotateRows(rows, turn [][]DD, floor DD) {
	// Long rows first: then the first sweeps already sort, and few are needed (de Rijk 1989).
	order := make([]int, len(rows))
	square := make([]DD, len(rows))
	for i := range rows {
		order[i], square[i] = i, Dot(rows[i], rows[i])
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(square[j].Hi, square[i].Hi) })
	least := floor.Square()
	for range 60 {
		worst := 0.0
		for i := range rows {
			square[i] = Dot(rows[i], rows[i])
		}
		for at, i := range order {
			for _, j := range order[at+1:] {
				if !least.Less(square[i]) || !least.Less(square[j]) {
					continue
				}
				c := rotatePair(rows, turn, square, i, j)
				worst = max(worst, c)
			}
		}
		if worst <= orthogonal {
			return
		}
	}
	panic("dd: Jacobi rotations did not converge")
}

// rotatePair makes rows i and j orthogonal and returns the previous |cos|.
func rotatePair(rows, turn [][]DD, square []DD, i, j int) float64 {
	p := Dot(rows[i], rows[j])
	if p.Hi == 0 {
		return 0
	}
	cos := math.Abs(p.Hi) / (math.Sqrt(square[i].Hi) * math.Sqrt(square[j].Hi)) // its digits do not matter
	if !(cos > orthogonal) {
		return cos
	}
	tangent := jacobiTangent(square[i], square[j], p)
	c := Of(1).Div(Of(1).Add(tangent.Square()).Sqrt())
	s := c.Mul(tangent)
	turnPair(rows[i], rows[j], c, s)
	if turn != nil {
		turnPair(turn[i], turn[j], c, s)
	}
	square[i], square[j] = square[i].Sub(tangent.Mul(p)), square[j].Add(tangent.Mul(p))
	return cos
}

// jacobiTangent returns tan of the smaller angle that takes [[a p][p b]] to a diagonal.
func jacobiTangent(a, b, p DD) DD {
	zeta := b.Sub(a).Div(p.Times(2))
	root := zeta.Square().Add(Of(1)).Sqrt()
	if zeta.Hi >= 0 {
		return Of(1).Div(zeta.Add(root))
	}
	return Of(-1).Div(root.Sub(zeta))
}

// turnPair replaces (a, b) by (c·a − s·b, s·a + c·b).
func turnPair(a, b []DD, c, s DD) {
	b, minus := b[:len(a)], s.Neg()
	for k, x := range a {
		y := b[k]
		a[k] = combined(c, x, minus, y)
		b[k] = combined(s, x, c, y)
	}
}

// combined returns c·x + s·y with an error of a few Eps·(|c·x| + |s·y|), which is what rounding the products alone may cost.
func combined(c, x, s, y DD) DD {
	p, e := twoProd(c.Hi, x.Hi)
	q, f := twoProd(s.Hi, y.Hi)
	sum, g := twoSum(p, q)
	e += c.Hi*x.Lo + c.Lo*x.Hi
	f += s.Hi*y.Lo + s.Lo*y.Hi
	sum, g = twoSum(sum, g+(e+f))
	return DD{sum, g}
}

// Eigenvalues returns the eigenvalues of the symmetric a, descending, by cyclic Jacobi rotations; the error is about
// Eps·‖a‖.
func Eigenvalues(a [][]DD) []DD {
	a = Clone(a)
	n := len(a)
	size := 0.0
	for _, row := range a {
		size = max(size, Norm(row).Hi)
	}
	for range 60 {
		worst := 0.0
		for i := range n {
			for j := i + 1; j < n; j++ {
				p := a[i][j]
				worst = max(worst, p.Abs().Hi)
				if !(p.Abs().Hi > size*orthogonal) {
					continue
				}
				rotateSymmetric(a, i, j)
			}
		}
		if worst <= size*orthogonal {
			break
		}
	}
	values := make([]DD, n)
	for i := range values {
		values[i] = a[i][i]
	}
	slices.SortStableFunc(values, func(x, y DD) int { return y.Cmp(x) })
	return values
}

// rotateSymmetric makes a[i][j] zero.
func rotateSymmetric(a [][]DD, i, j int) {
	tangent := jacobiTangent(a[i][i], a[j][j], a[i][j])
	c := Of(1).Div(Of(1).Add(tangent.Square()).Sqrt())
	s := c.Mul(tangent)
	turnPair(a[i], a[j], c, s)
	minus := s.Neg()
	for k := range a {
		x, y := a[k][i], a[k][j]
		a[k][i] = combined(c, x, minus, y)
		a[k][j] = combined(s, x, c, y)
	}
}

// Triangle returns R (d×d) with RᵀR = xᵀx of the rows x (m×d), by modified Gram–Schmidt on columns; rows that are zero stand
// for columns that depend on others.
func Triangle(x [][]DD) [][]DD {
	columns := Transpose(x)
	r := make([][]DD, len(columns))
	for i, q := range columns {
		r[i] = make([]DD, len(columns))
		length := Norm(q)
		if length.Hi == 0 {
			continue
		}
		r[i][i] = length
		inverse := Of(1).Div(length)
		for k := range q {
			q[k] = q[k].Mul(inverse)
		}
		for j := i + 1; j < len(columns); j++ {
			p := Dot(q, columns[j])
			r[i][j] = p
			for k, a := range q {
				columns[j][k] = columns[j][k].Sub(p.Mul(a))
			}
		}
	}
	return r
}

// SolveTransposed returns y with Rᵀy = b, R upper triangular.
func SolveTransposed(r [][]DD, b []DD) []DD {
	y := make([]DD, len(b))
	for i := range b {
		sum := b[i]
		for j := range i {
			sum = sum.Sub(r[j][i].Mul(y[j]))
		}
		y[i] = sum.Div(r[i][i])
	}
	return y
}
