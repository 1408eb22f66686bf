package nn

import (
	"math"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/kernel/memory"
)

// unitRows divides every row of length width by its norm, as torch.nn.functional.normalize does; a row of zeros stays 0 and has the
// gradient 0. Sums are in float64 and in the order of the entries, so results do not depend on threads.
type unitRows[T kernel.Float] struct {
	width, maxRows int
	scale          float64   // the length of every row of the output
	y              []T       // maxRows×width, allocated by the first forward
	norms          []float64 // of the rows of the last input
	clock          *Clock
}

// forward returns scale·x/‖x‖ row by row.
func (u *unitRows[T]) forward(x []T, rows int, _ Mode) []T {
	if u.y == nil {
		u.y, u.norms = memory.Alloc[T](u.maxRows*u.width), make([]float64, u.maxRows)
	}
	for i := range rows {
		row, out := x[i*u.width:(i+1)*u.width], u.y[i*u.width:(i+1)*u.width]
		u.norms[i] = math.Sqrt(dot(row, row))
		factor := u.factor(i)
		for j, v := range row {
			out[j] = T(factor * float64(v))
		}
	}
	u.clock.Lap("normalize", OpNorm)
	return u.y[:rows*u.width]
}

// factor is scale/‖x‖ of row i, 0 for a row of zeros.
func (u *unitRows[T]) factor(i int) float64 {
	if u.norms[i] == 0 {
		return 0
	}
	return u.scale / u.norms[i]
}

// backward replaces dy by dx = scale/‖x‖·(dy − ŷ⟨ŷ, dy⟩), where ŷ is the unit row.
func (u *unitRows[T]) backward(dy, _ []T, rows int, _ bool) []T {
	for i := range rows {
		row, y := dy[i*u.width:(i+1)*u.width], u.y[i*u.width:(i+1)*u.width]
		factor := u.factor(i)
		along := dot(row, y) / (u.scale * u.scale)
		for j, v := range row {
			row[j] = T(factor * (float64(v) - float64(along*float64(y[j]))))
		}
	}
	u.clock.Lap("normalize", OpNormGrad)
	return dy
}

func dot[T kernel.Float](a, b []T) (sum float64) {
	for i, v := range a {
		sum += float64(float64(v) * float64(b[i]))
	}
	return sum
}

func (u *unitRows[T]) collect(*Network[T]) {}

func (u *unitRows[T]) initialise(uint64) {}

func (u *unitRows[T]) bytes(Mode) Memory {
	return Memory{Activations: sizeOf[T](u.maxRows*u.width) + sizeOf[float64](u.maxRows)}
}

func (u *unitRows[T]) watch(c *Clock) { u.clock = c }

// normalizeClassifier puts the features on the unit sphere, and gives the rows of fc's weight the length a.Temperature wherever they are
// used, so that logits are τ·cos(w_k, h). The parameter itself keeps any length.
func (n *Network[T]) normalizeClassifier(a Arch) {
	if a.Classifier != ClassifierNormalized {
		return
	}
	n.layers = append(n.layers, &unitRows[T]{width: n.features, maxRows: n.maxBatch, scale: 1})
	n.fc.rows = &unitRows[T]{width: n.features, maxRows: n.classes, scale: a.Temperature}
}
