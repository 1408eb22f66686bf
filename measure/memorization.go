package measure

import (
	"fmt"
	"math"

	"collapse.example/collapse/internal/kernel"
)

// memorization sums ‖h − h*‖ over corrupted train samples, h* the mean of the TEST features of the
// sample's TRUE class (M-D eq. (3)). A nil *memorization counts nothing.
type memorization struct {
	observed, truth []int32
	redrawn         []bool    // nil: unknown
	centres         []float64 // (test K × d) h*
	centre          []int32   // (true classes) row of centres, noCentre or notCounted
	d               int
}

// Values of memorization.centre for a class without h*.
const (
	noCentre   = -1
	notCounted = -2
)

// of returns the row of h* of a true label.
func (m *memorization) of(label int32) int32 {
	if label < 0 || int(label) >= len(m.centre) { // an ignored one
		return notCounted
	}
	return m.centre[label]
}

// corrupted holds sums over corrupted samples.
type corrupted struct {
	redrawn, flipped           carried // Σ ‖h − h*‖
	redrawnCount, flippedCount int
	centreless                 int // samples whose true class has no test sample
}

func (c *corrupted) add(o corrupted) {
	c.redrawn.merge(o.redrawn)
	c.flipped.merge(o.flipped)
	c.redrawnCount += o.redrawnCount
	c.flippedCount += o.flippedCount
	c.centreless += o.centreless
}

// tallyCorrupted adds the sample h of a row if it is corrupted.
func tallyCorrupted[T kernel.Float](m *memorization, to *corrupted, row int, h []T) {
	if m == nil {
		return
	}
	redrawn := m.redrawn != nil && m.redrawn[row]
	flipped := m.observed[row] != m.truth[row]
	if !redrawn && !flipped {
		return
	}
	centre := m.of(m.truth[row])
	switch centre {
	case noCentre:
		to.centreless++
		return
	case notCounted:
		return
	}
	sum := 0.0
	for j, c := range m.centres[int(centre)*m.d:][:m.d] {
		x := float64(h[j]) - c
		sum += x * x
	}
	distance := math.Sqrt(sum)
	if redrawn {
		to.redrawn.add(distance)
		to.redrawnCount++
	}
	if flipped {
		to.flipped.add(distance)
		to.flippedCount++
	}
}

// meanDistance returns the mean over i<j of ‖μ_i − μ_j‖ for the rows of means (k×d).
func meanDistance(means []float64, k, d int) float64 {
	row, rows := make([]float64, 0, k), make([]float64, k)
	for i := range k {
		row = row[:0]
		for j := range i {
			row = append(row, math.Sqrt(distance2(means[i*d:][:d], means[j*d:][:d])))
		}
		rows[i] = compensated(row) // no other order of classes would show how these sums are rounded
	}
	return compensated(rows) / float64(k*(k-1)/2)
}

// memorized fills the four forms of memorization.
func memorized(b *builder, t corrupted, mem *memorization) {
	if t.centreless > 0 {
		b.missAll(fmt.Sprintf("%d corrupted samples have a true class without test samples: there is no h*", t.centreless),
			KeyMemRedrawn, KeyMemFlipped, KeyMemMean, KeyMemNormalised)
		return
	}
	if mem.redrawn == nil {
		b.miss(KeyMemRedrawn, "no mask of redrawn samples was given, and labels alone do not show them")
	} else {
		b.put(KeyMemRedrawn, t.redrawn.value())
	}
	b.put(KeyMemFlipped, t.flipped.value())
	if t.flippedCount == 0 {
		b.missAll("no measured sample is flipped", KeyMemMean, KeyMemNormalised)
		return
	}
	mean := t.flipped.value() / float64(t.flippedCount)
	b.put(KeyMemMean, mean)
	k := len(mem.centres) / mem.d
	if k < 2 {
		b.miss(KeyMemNormalised, oneClass)
		return
	}
	distance := meanDistance(mem.centres, k, mem.d)
	if !(distance > 0) {
		b.miss(KeyMemNormalised, "all test class means coincide")
		return
	}
	b.put(KeyMemNormalised, mean/distance)
}
