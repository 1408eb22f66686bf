package measure

import (
	"math"
	"sync"

	"collapse/internal/kernel"
)

// wordScatter sums S = Σ r rᵀ as scatter does, from residuals rounded at random to 16-bit numbers: products and their
// sums over a block are exact whole numbers (kernel.GemmPairs), and twice as many in a vector as of float32. What is lost is
// the rounding of the residuals, whose errors are independent by construction and mostly cancel over samples. The
// diagonal, where squares of errors would add up, is summed from the residuals themselves.
//
// The step between numbers belongs to a block: as small as 16 bits allow, and such that no sum can reach 2³¹.
type wordScatter struct {
	d        int
	sum      []float64 // (d×d) S, the upper triangle; without its diagonal until finish
	diagonal []float64 // (d) Σ r_p² of all blocks
	tiles    sync.Pool // of *[]int32, a piece each
	pieces   []piece
	step     float64 // of the block under way
	largest  float64 // step of all blocks

	residual  []float32 // of the block under way: n rows, stride apart
	stride, n int
	first     int         // row of the source where the block begins: seeds the rounding
	numbers   []int32     // (⌈n/2⌉ × stride): two rows of residuals in each
	squares   [][]float64 // (d) Σ r_p² of each strip
	peaks     []float32   // largest |r_p| of each strip
	column    []float64   // (d) Σ r_p² of the block
	empty     []float32   // (d) the partner of a last odd row
}

// newWordScatter adds to sum (d×d) blocks of at most so many rows.
func newWordScatter(d, block int, sum []float64) *wordScatter {
	strips := (block + wideStrip - 1) / wideStrip
	w := &wordScatter{d: d, sum: sum, diagonal: make([]float64, d), pieces: scatterPieces(d),
		squares: make([][]float64, strips), peaks: make([]float32, strips), column: make([]float64, d), empty: make([]float32, d)}
	w.tiles.New = func() any {
		tile := kernel.Alloc[int32](scatterPanel * scatterColumns)
		return &tile
	}
	w.numbers = kernel.Alloc[int32]((block + 1) / 2 * residualStride[float32](d))
	for i := range w.squares {
		w.squares[i] = make([]float64, d)
	}
	return w
}

// begin forgets what a strip of the block has seen.
func (w *wordScatter) begin(strip int) {
	clear(w.squares[strip])
	w.peaks[strip] = 0
}

// see takes one residual of a strip.
func (w *wordScatter) see(strip int, residual []float32) {
	w.peaks[strip] = max(w.peaks[strip], kernel.SquareSums(w.squares[strip], residual))
}

// block adds n residuals, stride apart, all of which were seen; the first is that of row first of the source.
func (w *wordScatter) block(team *kernel.Team, residual []float32, stride, n, first int) {
	w.residual, w.stride, w.n, w.first = residual, stride, n, first
	if !w.scale() {
		return
	}
	team.Do((n+wideStrip-1)/wideStrip, ditherTask{w})
	team.Do(len(w.pieces), wordTask{w})
	w.residual = nil
}

// wordLimit is the largest norm of a column of numbers: the square is below 2³¹.
const wordLimit = 46340

// scale chooses the step of the block; false if all residuals are zero, or not finite: the caller looks for those.
func (w *wordScatter) scale() bool {
	clear(w.column)
	peak := float32(0)
	for i := range (w.n + wideStrip - 1) / wideStrip {
		kernel.AddRow(w.column, w.squares[i])
		peak = max(peak, w.peaks[i])
	}
	most := 0.0
	for p, x := range w.column {
		most = max(most, x)
		w.diagonal[p] += x
	}
	// ‖q‖ ≤ ‖r‖/step + √n for a column, because dithering moves a number by less than one.
	room := (wordLimit - 1.01*math.Sqrt(float64(w.n))) / math.Sqrt(most)
	w.step = max(float64(peak)/kernel.Words, 1/room) * (1 + 1e-6)
	w.largest = max(w.largest, w.step)
	return peak > 0 && w.step-w.step == 0
}

// ditherTask rounds a strip of residuals, two rows into one row of numbers.
type ditherTask struct{ *wordScatter }

func (w ditherTask) Run(strip int) {
	scale := float32(1 / w.step)
	for i := strip * wideStrip; i < min((strip+1)*wideStrip, w.n); i += 2 {
		second := w.empty
		if i+1 < w.n {
			second = w.residual[(i+1)*w.stride:][:w.d]
		}
		state := kernel.NewDither(uint64(w.first + i))
		kernel.DitherPairs(w.numbers[i/2*w.stride:][:w.d], w.residual[i*w.stride:][:w.d], second, scale, &state)
	}
}

// wordTask forms one piece of the block's scatter and adds its upper triangle to S.
type wordTask struct{ *wordScatter }

func (w wordTask) Run(part int) {
	at, d := w.pieces[part], w.d
	rows, columns := min(scatterPanel, d-at.row), min(scatterColumns, d-at.column)
	kept := w.tiles.Get().(*[]int32)
	defer w.tiles.Put(kept)
	tile := *kept
	for from, pairs := 0, (w.n+1)/2; from < pairs; from += scatterResidual {
		q := w.numbers[from*w.stride:]
		kernel.GemmPairs(nil, kernel.TN, rows, columns, min(scatterResidual, pairs-from), q[at.row:], w.stride, q[at.column:], w.stride, tile, scatterColumns, from > 0)
	}
	square := w.step * w.step
	for i := range rows {
		from := max(0, at.row+i+1-at.column) // right of the diagonal
		if from >= columns {
			continue
		}
		sum := w.sum[(at.row+i)*d+at.column:][:columns]
		for j, x := range tile[i*scatterColumns:][:columns][from:] {
			sum[from+j] += float64(square * float64(x))
		}
	}
}

// finish puts the diagonal into S.
func (w *wordScatter) finish() {
	for p, x := range w.diagonal {
		w.sum[p*w.d+p] = x
	}
}

// errorBound bounds what rounding adds to tr(A S Aᵀ) = total of so many rows; the derivation is at whitener. For tr(M S M) it
// takes ‖M‖ tr(A S Aᵀ), and only where that is too much the trace itself.
func (w *wordScatter) errorBound(team *kernel.Team, a []float64, rank int, rows float64, total float64) float64 {
	const u2, grain = roundoff32 * roundoff32, 0x1p-34
	d := w.d
	gram := make([]float64, rank*rank) // A Aᵀ, of the norm of M
	kernel.Gemm(team, kernel.NT, rank, rank, d, a, d, a, d, gram, rank, kernel.Epilogue[float64]{})
	size := norm(gram)
	own, trace, inputs := 0.0, 0.0, 0.0
	for p, m := range columnSquares(a, rank, d) {
		own += m * m * w.diagonal[p]
		inputs += m * w.diagonal[p]
		trace += m
	}
	square := w.largest * w.largest
	inputs = 4*u2*inputs + grain*square*rows*trace
	bound := func(spread float64) float64 {
		linear := w.largest * (math.Sqrt(spread) + math.Sqrt(own))
		quadratic := square / 4 * math.Sqrt(2*rows) * size
		return (certain*(linear+quadratic) + 2*math.Sqrt(inputs*total) + inputs) / total
	}
	if loose := bound(size * total); loose < singleBound {
		return loose
	}
	image, left := make([]float64, rank*d), make([]float64, rank*rank)
	kernel.Gemm(team, kernel.NN, rank, d, d, a, d, w.sum, d, image, d, kernel.Epilogue[float64]{})
	kernel.Gemm(team, kernel.NT, rank, rank, d, image, d, a, d, left, rank, kernel.Epilogue[float64]{})
	return bound(max(0, dot(left, gram)))
}
