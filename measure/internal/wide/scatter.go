package wide

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/gemm"
	"collapse.example/collapse/internal/kernel/memory"
	"collapse.example/collapse/internal/kernel/rows"
	"collapse.example/collapse/parallel"
)

// Scatter sums S = Σ r rᵀ over blocks of residuals: only the upper triangle, with products in P and blocks added in float64.
type Scatter[P kernel.Float] struct {
	d      int
	Sum    []float64 // (d×d) S; complete below the diagonal only after Mirror
	tile   []P       // (d×d) of a block
	pieces []piece

	residual  []P // of the current block: n rows, stride apart
	stride, n int
}

// Each task computes this many rows and columns of S from this many residuals at a time. The residuals' columns stay in a
// second-level cache, and rows fill whole register tiles.
const (
	scatterPanel    = 96
	scatterColumns  = 512
	scatterResidual = 512
)

// piece is a part of the upper triangle of S: rows from row on, columns from column on.
type piece struct{ row, column int }

// NewScatter returns a Scatter that adds to sum (d×d).
func NewScatter[P kernel.Float](d int, sum []float64) *Scatter[P] {
	return &Scatter[P]{d: d, Sum: sum, tile: memory.Alloc[P](d * d), pieces: scatterPieces(d)}
}

// scatterPieces cuts the upper triangle.
func scatterPieces(d int) []piece {
	var pieces []piece
	for row := 0; row < d; row += scatterPanel {
		for column := row; column < d; column += scatterColumns {
			pieces = append(pieces, piece{row, column})
		}
	}
	return pieces
}

// Add adds n residuals, stride apart.
func (s *Scatter[P]) Add(team *parallel.Team, residual []P, stride, n int) {
	if n == 0 {
		return
	}
	s.residual, s.stride, s.n = residual, stride, n
	team.Do(len(s.pieces), scatterTask[P]{s})
	team.Do((s.d+Strip-1)/Strip, addScatter[P]{s})
	s.residual = nil
}

// scatterTask computes one piece of the block's scatter.
type scatterTask[P kernel.Float] struct{ *Scatter[P] }

func (s scatterTask[P]) Run(part int) {
	at := s.pieces[part]
	rows, columns := min(scatterPanel, s.d-at.row), min(scatterColumns, s.d-at.column)
	for from := 0; from < s.n; from += scatterResidual {
		r := s.residual[from*s.stride:]
		n := min(scatterResidual, s.n-from)
		left, right := kernel.Strided(n, rows, s.stride, r[at.row:]), kernel.Strided(n, columns, s.stride, r[at.column:])
		tile := kernel.Strided(rows, columns, s.d, s.tile[at.row*s.d+at.column:])
		gemm.Multiply(nil, gemm.TN, left, right, tile, gemm.Epilogue[P]{Accumulate: from > 0})
	}
}

// addScatter adds the block's upper triangle to S, one strip of rows per part.
type addScatter[P kernel.Float] struct{ *Scatter[P] }

func (s addScatter[P]) Run(strip int) {
	for i := strip * Strip; i < min((strip+1)*Strip, s.d); i++ {
		rows.AddRow(s.Sum[i*s.d+i:(i+1)*s.d], s.tile[i*s.d+i:(i+1)*s.d])
	}
}

// Mirror copies the upper triangle of S (d×d) below the diagonal.
func Mirror(s []float64, d int) {
	for i := range d {
		for j := range i {
			s[i*d+j] = s[j*d+i]
		}
	}
}
