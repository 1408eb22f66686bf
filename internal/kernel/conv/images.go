package conv

import (
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/elementwise"
	"collapse.example/collapse/parallel"
)

// Images moves samples between rows (one sample after the other, PyTorch's NCHW flattened) and image layout (batch
// innermost), whole or averaged over each channel's map. It allocates nothing once warm; one goroutine uses it at a time.
type Images[T kernel.Float] struct {
	pass             imagePass
	batch, lanes     int
	channels, pixels int
	perPart          int
	rows, image      []T
	sums             []float64 // Lanes(batch) per part, of imageMean
}

type imagePass uint8

const (
	imageFromRows imagePass = iota
	imageToRows
	imageMean
	imageSpread
)

// NewImages returns an Images for any shape.
func NewImages[T kernel.Float]() *Images[T] { return &Images[T]{} }

// FromRows sets image (values×Lanes(batch)) from rows (batch×values), with zeros in the padding lanes.
func (m *Images[T]) FromRows(tm *parallel.Team, batch, values int, rows, image []T) {
	m.do(tm, imageFromRows, batch, values, 1, rows, image)
}

// ToRows is the inverse: rows (batch×values) from image.
func (m *Images[T]) ToRows(tm *parallel.Team, batch, values int, image, rows []T) {
	m.do(tm, imageToRows, batch, values, 1, rows, image)
}

// Mean sets rows (batch×channels) to the mean over the pixels of image (channels×pixels×Lanes(batch)): global average
// pooling. It is summed in float64 and rounded once.
func (m *Images[T]) Mean(tm *parallel.Team, batch, channels, pixels int, image, rows []T) {
	m.do(tm, imageMean, batch, channels, pixels, rows, image)
}

// Spread differentiates Mean: every pixel of image gets its sample's gradient in rows divided by the number of pixels; padding lanes
// get 0.
func (m *Images[T]) Spread(tm *parallel.Team, batch, channels, pixels int, rows, image []T) {
	m.do(tm, imageSpread, batch, channels, pixels, rows, image)
}

func (m *Images[T]) do(tm *parallel.Team, pass imagePass, batch, channels, pixels int, rows, image []T) {
	lanes, perRow := Lanes(batch), channels
	if batch < 1 || channels < 1 || pixels < 1 || len(rows) != batch*perRow || len(image) != channels*pixels*lanes {
		panic("conv: Images: rows are not batch×channels or image not channels×pixels×lanes")
	}
	m.pass, m.batch, m.lanes, m.channels, m.pixels, m.rows, m.image = pass, batch, lanes, channels, pixels, rows, image
	m.perPart = kernel.RoundUp(channelsPerPart(pixels*lanes), LaneBlock)
	parts := kernel.CeilDiv(channels, m.perPart)
	if pass == imageMean && len(m.sums) < parts*lanes {
		m.sums = make([]float64, parts*lanes)
	}
	tm.Do(parts, m)
	m.rows, m.image = nil, nil
}

// Run works on the channels of one part; the passes call it through the team.
func (m *Images[T]) Run(part int) {
	from, to := part*m.perPart, min((part+1)*m.perPart, m.channels)
	switch m.pass {
	case imageFromRows, imageToRows:
		for c := from; c < to; c += LaneBlock {
			m.transpose(c, min(c+LaneBlock, to))
		}
	case imageMean:
		m.mean(from, to, m.sums[part*m.lanes:][:m.lanes])
	case imageSpread:
		m.spread(from, to)
	}
}

// transpose exchanges values [from, to) of all samples, 16 samples at a time: a block of cache lines on both sides.
func (m *Images[T]) transpose(from, to int) {
	for b := 0; b < m.batch; b += LaneBlock {
		for s := b; s < min(b+LaneBlock, m.batch); s++ {
			row := m.rows[s*m.channels+from : s*m.channels+to]
			at := from*m.lanes + s
			if m.pass == imageFromRows {
				for _, v := range row {
					m.image[at] = v
					at += m.lanes
				}
				continue
			}
			for i := range row {
				row[i] = m.image[at]
				at += m.lanes
			}
		}
	}
	if m.pass == imageFromRows {
		for c := from; c < to; c++ {
			clear(m.image[c*m.lanes+m.batch : (c+1)*m.lanes])
		}
	}
}

func (m *Images[T]) mean(from, to int, sums []float64) {
	for c := from; c < to; c++ {
		clear(sums)
		elementwise.AddRows(kernel.Dense(m.pixels, m.lanes, m.image[c*m.pixels*m.lanes:]), sums)
		for s, sum := range sums[:m.batch] {
			m.rows[s*m.channels+c] = T(sum / float64(m.pixels))
		}
	}
}

func (m *Images[T]) spread(from, to int) {
	for c := from; c < to; c++ {
		run := m.image[c*m.pixels*m.lanes:][:m.pixels*m.lanes]
		for s := range m.batch {
			run[s] = m.rows[s*m.channels+c] / T(m.pixels)
		}
		clear(run[m.batch:m.lanes])
		for p := 1; p < m.pixels; p++ {
			copy(run[p*m.lanes:], run[:m.lanes])
		}
	}
}
