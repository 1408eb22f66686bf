package measure

import (
	"math"
	"math/rand/v2"

	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/measure/internal/wide"
)

// whole is an input held in memory, to be measured repeatedly.
type whole[T kernel.Float] struct {
	in               Input[T]
	opt              Options
	train, test, ood []T
	d                int
	isFloat32        bool
}

// hold reads an input into memory; nil if it is too large for that.
func hold[T kernel.Float](e *Engine[T], in *Input[T]) (*whole[T], error) {
	w := &whole[T]{in: *in, opt: e.opt, d: e.train.d, isFloat32: e.train.isFloat32}
	elements := 0
	for _, src := range []Source[T]{in.Train.Features, in.Test.Features, in.OOD} {
		if src != nil {
			n, d := src.Size()
			elements += n * d
		}
	}
	if elements > wholeElements || wide.Due(e.train.k, e.train.d) || pairsWork(e.train.k, e.train.d)*mostPerturbations > perturbWork*2 {
		return nil, nil
	}
	w.in.Only = make([]bool, e.train.rows)
	for _, split := range []struct {
		to  *[]T
		src Source[T]
	}{{&w.train, in.Train.Features}, {&w.test, in.Test.Features}, {&w.ood, in.OOD}} {
		if split.src == nil {
			continue
		}
		n, _ := split.src.Size()
		buf := make([]T, n*w.d)
		rows, err := split.src.Read(buf, 0, n)
		if err != nil {
			return nil, err
		}
		*split.to = rows
	}
	for i := range w.in.Only { // the same samples leave out the same classes; non-finite rows are dropped
		masked := in.Only != nil && !in.Only[i]
		w.in.Only[i] = !masked && checkFinite("train", w.train[i*w.d:][:w.d], w.d) == nil
	}
	return w, nil
}

// perturb measures again and fills the changes.
func (w *whole[T]) perturb(r *Report, random *rand.Rand) error {
	w.opt = w.opt.plain(r.Measures.of)
	n := len(w.train) + len(w.test) + len(w.ood)
	m := max(leastPerturbations, min(mostPerturbations, wholeElements/max(n, 1)))
	arithmetic, given := newMoved(r.Measures.of), newMoved(r.Measures.of)
	for draw := range m {
		again, err := measurePerturbed(w.shuffled(random), w.opt, random, draw%2 == 1)
		if err != nil {
			return err
		}
		arithmetic.add(again, jogShare)
	}
	for range givenPerturbations {
		again, err := measurePerturbed(w.rounded(random, inputRoundoff(w.isFloat32)), w.opt, nil, false)
		if err != nil {
			return err
		}
		given.add(again, 1)
	}
	for key := range r.Measures.of {
		r.state(key, certainty(m)*arithmetic.size(key), 3*given.size(key))
	}
	return nil
}

// measurePerturbed measures with class means moved by their own rounding if random is given, and with correctly rounded class sums
// if resum is set: sums of nearly equal numbers round nearly alike in any order, so reordering does not show their error.
func measurePerturbed[T kernel.Float](in Input[T], opt Options, random *rand.Rand, resum bool) (map[string]float64, error) {
	e, err := NewEngine[T](opt)
	if err != nil {
		return nil, err
	}
	e.jitter, e.resum = random, resum
	report, err := e.Measure(in)
	if err != nil {
		return nil, err
	}
	return report.Measures.of, nil
}

// shuffled returns the input with samples and coordinates in random order.
func (w *whole[T]) shuffled(random *rand.Rand) Input[T] {
	in := w.in
	columns := random.Perm(w.d)
	rows := random.Perm(len(w.in.Train.Labels))
	in.Train = Memory(reorder(w.train, w.d, rows, columns), w.d, pick(w.in.Train.Labels, rows))
	in.Only, in.True, in.Redrawn = pick(w.in.Only, rows), pick(w.in.True, rows), pick(w.in.Redrawn, rows)
	if w.test != nil {
		rows := random.Perm(len(w.in.Test.Labels))
		in.Test = Memory(reorder(w.test, w.d, rows, columns), w.d, pick(w.in.Test.Labels, rows))
	}
	if w.ood != nil {
		in.OOD = &Rows[T]{H: reorder(w.ood, w.d, random.Perm(len(w.ood)/w.d), columns), D: w.d}
	}
	in.W = reorder(w.in.W, w.d, nil, columns)
	jog(in.W, random) // products with W round even if there is only one coordinate and hence only one order
	return in
}

// rounded returns the input with every number moved at random within ±u of its size. Rounding is a function of the number:
// equal numbers in a coordinate move alike, so its effect on coinciding samples does not average out.
func (w *whole[T]) rounded(random *rand.Rand, u float64) Input[float64] {
	if !w.isFloat32 {
		u *= 4 // covers the rounding of a rotation or rescaling of the features, beyond moving by half a bit and rounding back
	}
	seed := random.Uint64()
	move := func(x []T) []float64 {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = float64(v) * (1 + u*evenly(seed, uint64(i%w.d), math.Float64bits(float64(v))))
		}
		return out
	}
	in := Input[float64]{Classes: w.in.Classes, Only: w.in.Only, W: w.in.W, B: w.in.B, TestClasses: w.in.TestClasses, True: w.in.True, Redrawn: w.in.Redrawn}
	in.Train = Memory(move(w.train), w.d, w.in.Train.Labels)
	if w.test != nil {
		in.Test = Memory(move(w.test), w.d, w.in.Test.Labels)
	}
	if w.ood != nil {
		in.OOD = &Rows[float64]{H: move(w.ood), D: w.d}
	}
	return in
}

// evenly returns a number in [−1, 1) that looks random and depends on a seed and a number of a coordinate (SplitMix64; Steele, Lea & Flood
// 2014).
func evenly(seed, coordinate, number uint64) float64 {
	z := number
	for _, x := range [...]uint64{seed, coordinate} {
		z += x + 0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
	}
	return float64(z>>11)*0x1p-52 - 1
}

// reorder returns x (rows×d) with rows (nil: as they are) and columns in the given order; nil for nil.
func reorder[E any](x []E, d int, rows, columns []int) []E {
	if x == nil {
		return nil
	}
	out := make([]E, len(x))
	for i := range len(x) / d {
		from := i
		if rows != nil {
			from = rows[i]
		}
		to, row := out[i*d:][:d], x[from*d:][:d]
		for j, c := range columns {
			to[j] = row[c]
		}
	}
	return out
}

// pick returns x in the given order; nil for nil.
func pick[E any](x []E, order []int) []E {
	if x == nil {
		return nil
	}
	out := make([]E, len(x))
	for i, from := range order {
		out[i] = x[from]
	}
	return out
}
