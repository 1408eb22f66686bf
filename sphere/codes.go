package sphere

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"collapse.example/collapse/etf"
)

// Code is an arrangement of K unit vectors that is known to be good.
type Code struct {
	Name    string
	Margin  float64 // its smallest one-vs-rest margin, in closed form
	Vectors *mat.Dense
}

// golden is the golden ratio.
const golden = math.Phi

// Known is a code for K classes in d dimensions, or nil if none is in the list: regular polygons, simplices, cross-polytopes and their parts, and
// regular polytopes whose vertices all have their neighbours in one hyperplane.
func Known(K, d int) *Code {
	switch {
	case K <= d+1:
		return &Code{"simplex", float64(K) / float64(K-1), simplex(K, d)}
	case d == 2:
		return &Code{"regular polygon", 1 - math.Cos(2*math.Pi/float64(K)), polygon(K)}
	case K <= 2*d:
		return &Code{map[bool]string{true: "cross-polytope", false: "orthogonal simplices"}[K == 2*d], 1, simplices(K, d)}
	case K == 10 && d == 4:
		return &Code{"Petersen code", 5.0 / 6, petersen()}
	case K == 16 && d == 5:
		return &Code{"5-demicube", 0.8, normalised(evenSigns(5, 1))}
	case K == 12 && d == 3:
		return &Code{"icosahedron", 1 - 1/math.Sqrt(5), normalised(even([][]float64{{0, 1, golden}}, true))}
	case K == 24 && d == 4:
		return &Code{"24-cell", 0.5, normalised(pairs(4))}
	case K == 120 && d == 4:
		return &Code{"600-cell", 1 - golden/2, normalised(sixHundred())}
	case K == 240 && d == 8:
		return &Code{"roots of E8", 0.5, normalised(append(pairs(8), evenSigns(8, 0.5)...))}
	}
	return nil
}

func simplex(K, d int) *mat.Dense {
	frame, err := etf.Simplex(K, K)
	if err != nil {
		panic(err) // K ≥ 2
	}
	// The K columns span K−1 ≤ d dimensions: their coordinates there.
	var svd mat.SVD
	svd.Factorize(frame, mat.SVDThin)
	var v mat.Dense
	svd.VTo(&v)
	values, out := svd.Values(nil), mat.NewDense(K, d, nil)
	out.Apply(func(k, i int, _ float64) float64 {
		if i >= K-1 {
			return 0
		}
		return v.At(k, i) * values[i]
	}, out)
	return unitRows(out)
}

func polygon(K int) *mat.Dense {
	out := mat.NewDense(K, 2, nil)
	for k := range K {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(K))
		out.SetRow(k, []float64{cos, sin})
	}
	return out
}

// simplices are K − d simplices in subspaces orthogonal to each other, as equal as can be; d + 1 < K ≤ 2d.
func simplices(K, d int) *mat.Dense {
	parts, out := K-d, mat.NewDense(K, d, nil)
	row, column := 0, 0
	for i := range parts {
		size := K/parts + map[bool]int{true: 1}[i < K%parts]
		part := simplex(size, size-1)
		for r := range size {
			for c := range size - 1 {
				out.Set(row+r, column+c, part.At(r, c))
			}
		}
		row, column = row+size, column+size-1
	}
	return out
}

// pairs are the vectors with two entries ±1 and zeros: D_n's roots.
func pairs(n int) (out [][]float64) {
	for i := range n {
		for j := range i {
			for signs := range 4 {
				v := make([]float64, n)
				v[i], v[j] = float64(signs&1*2-1), float64(signs&2-1)
				out = append(out, v)
			}
		}
	}
	return out
}

// evenSigns are the vectors of n entries ±size with an even number of minuses.
func evenSigns(n int, size float64) (out [][]float64) {
	for signs := range 1 << n {
		v, minus := make([]float64, n), 0
		for i := range v {
			v[i] = size * float64(1-2*(signs>>i&1))
			minus += signs >> i & 1
		}
		if minus%2 == 0 {
			out = append(out, v)
		}
	}
	return out
}

// petersen are the ten midpoints of the edges of a simplex in four dimensions.
func petersen() *mat.Dense {
	corners, out := simplex(5, 4), mat.NewDense(10, 4, nil)
	row := 0
	for i := range 5 {
		for j := range i {
			for c := range 4 {
				out.Set(row, c, corners.At(i, c)+corners.At(j, c))
			}
			row++
		}
	}
	return unitRows(out)
}

// sixHundred are the 120 vertices of the 600-cell: 8 axes, 16 of ±½, and 96 even permutations of (0, ±1/φ, ±1, ±φ)/2.
func sixHundred() (out [][]float64) {
	for i := range 4 {
		for _, sign := range []float64{-1, 1} {
			v := make([]float64, 4)
			v[i] = 2 * sign
			out = append(out, v)
		}
	}
	for signs := range 16 {
		v := make([]float64, 4)
		for i := range v {
			v[i] = float64(signs>>i&1*2 - 1)
		}
		out = append(out, v)
	}
	return append(out, even([][]float64{{0, 1 / golden, 1, golden}}, false)...)
}

// even are the even permutations (of three entries: the cyclic ones) of vectors, with every choice of signs.
func even(from [][]float64, cyclic bool) (out [][]float64) {
	n := len(from[0])
	for _, v := range from {
		for _, order := range permutations(n) {
			if odd(order) || cyclic && order[1] != (order[0]+1)%n {
				continue
			}
			for signs := range 1 << n {
				one, twice := make([]float64, n), false
				for i, j := range order {
					one[i] = v[j] * float64(signs>>i&1*2-1)
					twice = twice || v[j] == 0 && signs>>i&1 == 1 // zero has one sign
				}
				if !twice {
					out = append(out, one)
				}
			}
		}
	}
	return out
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var out [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			out = append(out, append(append(append([]int(nil), p[:at]...), n-1), p[at:]...))
		}
	}
	return out
}

func odd(order []int) bool {
	swaps := 0
	for i := range order {
		for j := range i {
			if order[j] > order[i] {
				swaps++
			}
		}
	}
	return swaps%2 == 1
}

func normalised(rows [][]float64) *mat.Dense {
	out := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		out.SetRow(i, r)
	}
	return unitRows(out)
}

func unitRows(m *mat.Dense) *mat.Dense {
	rows, _ := m.Dims()
	for i := range rows {
		norm := mat.Norm(m.RowView(i), 2)
		for j, v := range mat.Row(nil, i, m) {
			m.Set(i, j, v/norm)
		}
	}
	return m
}
