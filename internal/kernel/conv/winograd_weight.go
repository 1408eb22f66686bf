package conv

import (
	"unsafe"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/parallel"
)

// winogradWeights computes the gradient of the weights by Winograd's algorithm: for each of the 36 points,
// a sum of outer products over tiles and samples,
//
//	sums[point][c][o] = Σ_{chunk, lane} columns[chunk][point][c][lane] · gradient[chunk][point][lane][o]
//
// dy is transposed to neighbouring channels before its transform, because its tiles, unlike those of the
// image, do not overlap.
//
// Chunks are transformed a wave at a time, as many as fit into the second-level cache or, if those are few, the third-level one;
// then every point adds all chunks of the wave. The sums stay in memory between waves. If the sums of all channels are large and one
// wave is enough, a part is some panels of channels c whose sums are private and go to dw at once. Every sum is computed by one
// thread, chunk by chunk in order.
type winogradWeights[T kernel.Float] struct {
	shape   Shape
	grid    winogradGrid
	columns int // channels o, padded to whole blocks

	// of the call under way
	phase     winogradPhase
	kernels   *kernels[T]
	x, dy, dw []T
	memory    *convShared[T]
	first     int // chunk of the wave
	last      int
	panel     int  // channels c of a tile
	wave      int  // chunks of a wave
	single    bool // one wave is enough and the sums of a part are private
	need      convNeed
}

const (
	winogradWave     winogradPhase = iota + 16 // transform a chunk's image or gradient
	winogradPoint                              // sum a point over the wave
	winogradInverse                            // transform sums back
	winogradPanelSum                           // sum and transform back some panels of channels
)

const (
	winogradWaveNear   = 5 << 18  // transformed image and gradient of a wave, most of it in the second-level cache
	winogradWaveFar    = 4 << 20  // or in the third-level cache, if the second-level one holds too few chunks
	winogradWaveChunks = 4        // chunks of a wave are a multiple: sums are read from memory and written back once per wave
	winogradSumsBytes  = 16 << 20 // most sums kept between waves if that can be avoided
	winogradMostBytes  = 24 << 20 // largest single wave
	winogradPanels     = 1        // panels of a part that reads a whole wave
	inverseBlock       = 4        // channels of a part that transforms sums back
	pointSplits        = 4        // parts of a point in a wave
)

func newWinogradWeights[T kernel.Float](s Shape) *winogradWeights[T] {
	return &winogradWeights[T]{shape: s, grid: newWinogradGrid(s.H, s.W), columns: kernel.RoundUp(s.Out, LaneBlock)}
}

func (g *winogradWeights[T]) compute(tm *parallel.Team, lanes int, x, dy, dw []T) {
	g.plan(lanes)
	pools := convPoolsFor[T]()
	g.memory = pools.takeShared(g.need)
	g.x, g.dy, g.dw = x, dy, dw
	for first := 0; first < g.grid.chunks(); first = g.last {
		g.first, g.last = first, min(first+g.wave, g.grid.chunks())
		g.do(tm, winogradWave, 2*(g.last-g.first))
		if !g.single {
			g.do(tm, winogradPoint, winogradPoints*g.splits())
		}
	}
	if g.single { // the wave is all chunks
		g.do(tm, winogradPanelSum, kernel.CeilDiv(g.shape.In, winogradPanels*g.panel))
	} else {
		g.do(tm, winogradInverse, kernel.CeilDiv(g.shape.In, inverseBlock))
	}
	pools.shared.Put(g.memory)
	g.memory, g.x, g.dy, g.dw = nil, nil, nil, nil
}

// plan divides the work, by shape and kernel only.
func (g *winogradWeights[T]) plan(lanes int) {
	g.kernels = kernelsOf[T]()
	g.grid.cut(lanes, 2*LaneBlock)
	g.panel = evenPanel(g.shape.In, g.kernels.rows())
	size, chunks := kernel.Size[T](), g.grid.chunks()
	chunk := g.imageSize() + g.gradientSize()
	sums := winogradPoints * g.sumPoint(g.shape.In)
	g.single = sums*size > winogradSumsBytes && chunks*chunk*size <= winogradMostBytes
	bytes := winogradWaveNear
	if winogradWaveChunks*chunk*size > bytes {
		bytes = winogradWaveFar
	}
	g.wave = min(kernel.RoundUp(max(1, bytes/(chunk*size)), winogradWaveChunks), chunks)
	if g.single {
		g.wave = chunks
	}
	g.need = convNeed{
		columns: g.wave * g.imageSize(), gradient: g.wave * g.gradientSize(),
		turned: winogradSide * winogradSide * LaneBlock * LaneBlock, temp: winogradPoints * g.kernels.lanes,
	}
	if g.single {
		g.need.packed = winogradPoints * g.sumPoint(winogradPanels*g.panel)
		g.need.filters = 9 * winogradPanels * g.panel * g.columns
	} else {
		g.need.partial = sums
		g.need.filters = 9 * orderBlock * g.columns
	}
}

func (g *winogradWeights[T]) needs(lanes int) convNeed {
	g.plan(lanes)
	return g.need
}

// splits is how many parts share the channels c of a point.
func (g *winogradWeights[T]) splits() int {
	return min(pointSplits, kernel.CeilDiv(g.shape.In, g.panel))
}

func (g *winogradWeights[T]) do(tm *parallel.Team, phase winogradPhase, parts int) {
	g.phase = phase
	tm.Do(parts, g)
}

// The distances between points of a chunk's image, of its gradient, and of sums for channels channels c.
func (g *winogradWeights[T]) imagePoint() int    { return pointStride(g.shape.In * g.grid.group) }
func (g *winogradWeights[T]) gradientPoint() int { return pointStride(g.grid.group * g.columns) }
func (g *winogradWeights[T]) sumPoint(channels int) int {
	return pointStride(channels * g.columns)
}

// The elements of a chunk's image and gradient.
func (g *winogradWeights[T]) imageSize() int    { return winogradPoints * g.imagePoint() }
func (g *winogradWeights[T]) gradientSize() int { return winogradPoints * g.gradientPoint() }

// Run computes one part of the current phase.
func (g *winogradWeights[T]) Run(part int) {
	pools := convPoolsFor[T]()
	s := pools.take(g.need)
	switch g.phase {
	case winogradWave:
		if i := part / 2; part%2 == 0 {
			transformInput(s, g.kernels, &g.grid, g.x, g.shape.In, g.first+i, g.memory.columns[i*g.imageSize():], g.imagePoint())
		} else {
			g.transformGradient(s, g.first+i, g.memory.gradient[i*g.gradientSize():])
		}
	case winogradPoint:
		n := g.splits()
		point, split := part/n, part%n
		g.list(s, point)
		size, panels := g.sumPoint(g.shape.In), kernel.CeilDiv(g.shape.In, g.panel)
		for c := split * panels / n * g.panel; c < min((split+1)*panels/n*g.panel, g.shape.In); c += g.panel {
			g.sum(s, c, min(c+g.panel, g.shape.In), g.memory.partial[point*size+c*g.columns:], g.first > 0)
		}
	case winogradInverse:
		c0 := part * inverseBlock
		g.inverse(s, c0, min(c0+inverseBlock, g.shape.In), g.memory.partial[c0*g.columns:], g.sumPoint(g.shape.In))
	case winogradPanelSum:
		c0 := part * winogradPanels * g.panel
		c1 := min(c0+winogradPanels*g.panel, g.shape.In)
		point := g.sumPoint(winogradPanels * g.panel)
		for i := range winogradPoints {
			g.list(s, i)
			for c := c0; c < c1; c += g.panel {
				g.sum(s, c, min(c+g.panel, c1), s.packed[i*point+(c-c0)*g.columns:], false)
			}
		}
		g.inverse(s, c0, c1, s.packed, point)
	}
	pools.release(s)
}

// transformGradient transposes and transforms a chunk of dy to [point][lane][o].
func (g *winogradWeights[T]) transformGradient(s *convScratch[T], chunk int, dst []T) {
	const block = LaneBlock * LaneBlock // a pixel: [lane][channel]
	first, last := g.grid.newRows(chunk, 0)
	touchRows(g.dy, g.shape.Out, g.grid.h, g.grid.w*g.grid.lanes, first, last)
	y, x, lane, width := g.grid.chunk(chunk)
	k, size, point := g.kernels, kernel.Size[T](), g.gradientPoint()
	f := &s.form
	*f = convTransform{
		srcRow: winogradSide * block * size, srcCol: block * size, srcGap: LaneBlock * size,
		srcMask: g.grid.mask(y, x, winogradSide), dstMask: winogradWhole,
		dstRow: 6 * point * size, dstCol: point * size, dstGap: g.columns * size, count: LaneBlock, temp: pointer(s.temp, 0),
	}
	for l := 0; l < width; l += LaneBlock {
		for o := 0; o < g.shape.Out; o += LaneBlock {
			g.turn(s, y, x, lane+l, o)
			for v := 0; v < LaneBlock; v += k.lanes {
				f.src, f.dst = pointer(s.turned, v), unsafe.Pointer(&dst[l*g.columns+o+v])
				k.gradient(f)
			}
		}
	}
}

// turn transposes a block of lanes and channels of a tile of dy. Channels beyond the last repeat it.
func (g *winogradWeights[T]) turn(s *convScratch[T], y, x, lane, o int) {
	const block = LaneBlock * LaneBlock
	size, image := kernel.Size[T](), g.grid.h*g.grid.w*g.grid.lanes
	t := &s.turn
	*t = convTranspose{dstGap: block * size, srcGap: g.grid.lanes * size, blocks: min(winogradSide, g.grid.w-x)}
	for r := range LaneBlock {
		t.srcRows[r], t.dstRows[r] = min(o+r, g.shape.Out-1)*image*size, r*LaneBlock*size
	}
	rows := min(winogradSide, g.grid.h-y)
	for i := range rows {
		t.ahead = g.grid.w * g.grid.lanes * size // the next row of the tile, or the tile of the next channels
		if i == rows-1 {
			t.ahead = (LaneBlock*image - i*g.grid.w*g.grid.lanes) * size
		}
		t.dst = pointer(s.turned, i*winogradSide*block)
		t.src = unsafe.Pointer(&g.dy[((y+i)*g.grid.w+x)*g.grid.lanes+lane])
		g.kernels.transpose(t)
	}
}

// list writes the runs of a point: one for each chunk of the wave, in order. The last groups of lanes may be narrower than the
// others; their runs are added to the same sums after them, from s.runStart[0] on.
func (g *winogradWeights[T]) list(s *convScratch[T], point int) {
	size := kernel.Size[T]()
	s.runs, s.runStart = s.runs[:0], s.runStart[:0]
	for _, narrow := range []bool{false, true} {
		for chunk := g.first; chunk < g.last; chunk++ {
			if _, _, _, width := g.grid.chunk(chunk); (width < g.grid.group) == narrow {
				i := chunk - g.first
				s.runs = append(s.runs, convRun{
					a: (i*g.imageSize() + point*g.imagePoint()) * size,
					b: (i*g.gradientSize() + point*g.gradientPoint()) * size,
				})
			}
		}
		s.runStart = append(s.runStart, len(s.runs))
	}
}

// sum adds the listed runs to the sums of channels c0…c1−1, at most a panel, or starts them.
func (g *winogradWeights[T]) sum(s *convScratch[T], c0, c1 int, sums []T, accumulate bool) {
	g.sumRuns(s, s.runs[:s.runStart[0]], g.grid.group, c0, c1, sums, accumulate)
	if narrow := s.runs[s.runStart[0]:]; len(narrow) > 0 {
		g.sumRuns(s, narrow, g.grid.lanes%g.grid.group, c0, c1, sums, accumulate || s.runStart[0] > 0)
	}
}

func (g *winogradWeights[T]) sumRuns(s *convScratch[T], runs []convRun, width, c0, c1 int, sums []T, accumulate bool) {
	k, size := g.kernels, kernel.Size[T]()
	if accumulate && len(runs) == 0 {
		return
	}
	t := &s.tile
	*t = convTile{
		a: unsafe.Pointer(&g.memory.columns[c0*width]), aRow: width * size, aCol: size, runs: unsafe.SliceData(runs), runCount: len(runs), k: width,
		bRow: g.columns * size, cRow: g.columns * size, addRow: g.columns * size,
	}
	for o := 0; o < g.columns; {
		vectors := min(k.vectors(), (g.columns-o)/k.lanes)
		t.b, t.c = unsafe.Pointer(&g.memory.gradient[o]), unsafe.Pointer(&sums[o])
		if accumulate {
			t.add = t.c
		}
		k.tiles[c1-c0-1][vectors-1](t)
		o += vectors * k.lanes
	}
}

// inverse transforms the sums of channels c0…c1−1, those of c0 first, back and stores them in dw.
func (g *winogradWeights[T]) inverse(s *convScratch[T], c0, c1 int, sums []T, point int) {
	k, size := g.kernels, kernel.Size[T]()
	const taps = 9
	for c := range c1 - c0 {
		f := &s.form
		*f = convTransform{
			src: unsafe.Pointer(&sums[c*g.columns]), srcRow: 6 * point * size, srcCol: point * size, srcGap: k.lanes * size,
			srcMask: winogradWhole, dstMask: winogradWhole,
			dst: unsafe.Pointer(&s.filters[c*taps*g.columns]), dstRow: 3 * g.columns * size, dstCol: g.columns * size, dstGap: k.lanes * size,
			count: g.columns / k.lanes, temp: pointer(s.temp, 0),
		}
		k.filterGradient(f)
	}
	n := (c1 - c0) * taps
	s.offsets = s.offsets[:0]
	for j := range n {
		s.offsets = append(s.offsets, j*g.columns)
	}
	scatterTaps(s, k, s.filters, s.offsets, g.dw[c0*taps:], g.shape.In*taps, g.shape.Out)
}
