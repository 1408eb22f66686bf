package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"collapse.example/collapse/data"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/nn"
)

// evaluation is the result of one pass over a split: its features and what the classifier makes of them.
type evaluation[T Float] struct {
	features []T   // N×d
	layers   [][]T // N×width for each tapped layer
	losses   []float64
	right    []bool // the largest logit is at the label
	folded   []bool // the same after folding latent classes into their originals; nil without latent classes
}

// allocate allocates room for n samples with the given layers, once.
func (e *evaluation[T]) allocate(s *session[T], n int, taps []nn.Tap) {
	if e.features != nil {
		return
	}
	e.features, e.losses, e.right = make([]T, n*s.dim), make([]float64, n), make([]bool, n)
	for _, t := range taps {
		e.layers = append(e.layers, make([]T, n*t.Dim(s.cfg.flatten())))
	}
	if s.in.train.Latent {
		e.folded = make([]bool, n)
	}
}

// keep stores the network's outputs for the given samples. labels are the split's.
func (e *evaluation[T]) keep(s *session[T], samples []int32, out outputs[T], labels []int32) {
	d, k := s.dim, s.classes
	for i, at := range samples {
		logits, label := out.logits[i*k:(i+1)*k], labels[at]
		copy(e.features[int(at)*d:], out.features[i*d:(i+1)*d])
		e.losses[at] = s.loss.Value(logits, labels[at:at+1])
		largest := int32(nn.Argmax(logits))
		e.right[at] = largest == label
		if e.folded != nil {
			e.folded[at] = s.in.train.Fold(largest) == s.in.train.Fold(label)
		}
	}
	for l, rows := range e.layers {
		w := s.taps[l].Dim(s.cfg.flatten())
		for i, at := range samples {
			copy(rows[int(at)*w:], out.layers[l][i*w:(i+1)*w])
		}
	}
}

// pass evaluates a split with the given layers.
func (s *session[T]) pass(e *evaluation[T], split string, labels []int32, taps []nn.Tap) error {
	e.allocate(s, len(labels), taps)
	return s.engine.evaluate(split, len(taps) > 0, func(samples []int32, out outputs[T]) { e.keep(s, samples, out, labels) })
}

// passBoth evaluates the splits: with observed labels for training samples, true ones for test samples. If the training pass has
// kept what it computed, that replaces the first evaluation. For the validation split only loss and accuracy are reported, so its
// layers are not kept.
func (s *session[T]) passBoth() error {
	if !s.collect {
		if err := s.pass(&s.train, splitTrain, s.in.train.Observed, s.taps); err != nil {
			return err
		}
	}
	if err := s.pass(&s.test, splitTest, s.in.test.True, s.taps); err != nil || s.in.held == nil {
		return err
	}
	return s.pass(&s.held, splitHeld, s.in.held.True, nil)
}

// mean returns loss and accuracy over the samples marked in only; nil: all. NaN without samples.
func (e *evaluation[T]) mean(only []bool) (loss, accuracy float64) {
	n := 0
	for i, l := range e.losses {
		if only == nil || only[i] {
			n++
			loss += l
		}
	}
	return loss / float64(n), share(e.right, only)
}

// share returns the fraction of the samples marked in only (nil: all) for which right is true. NaN without samples.
func share(right, only []bool) float64 {
	n, hits := 0, 0
	for i, r := range right {
		if only != nil && !only[i] {
			continue
		}
		n++
		if r {
			hits++
		}
	}
	return float64(hits) / float64(n)
}

// keyFolded is the accuracy when each latent noise class counts as the class it was split from.
const keyFolded = "accuracy_folded"

// Splits of the rows. Train measures use observed labels; clean ones are over the training samples whose observed label is the true
// one, and exist only under label noise.
const (
	splitTrain = "train"
	splitClean = "clean"
	splitTest  = "test"
	splitHeld  = "validation" // held out by data.validation: loss and accuracy on true labels
)

// measurePassed computes every row of an epoch from the evaluated splits. The train rows hold memorization, which needs both splits; dilation is a measure of
// test features and is filed under test. With latent noise classes train measures are over the 2K observed classes; test features and
// centres h* are over the K original ones, which no classifier of 2K rows belongs to.
func (s *session[T]) measurePassed() ([]row, error) {
	train := s.in.train
	onTrain := s.input(s.train.features, s.test.features, s.dim)
	onTrain.W, onTrain.B = s.classifier()
	var rows []row
	report, err := s.onTrain.Measure(onTrain)
	if err != nil {
		return nil, err
	}
	s.means = report
	rows = append(rows, reportRows(splitTrain, report, &s.train, nil)...)
	loss, _ := s.train.mean(nil)
	objective := loss + s.penalty()
	rows = append(rows, number(splitTrain, KeyObjective, objective))
	rows = append(rows, s.besideTheory(objective, report.ClassMeans, onTrain.W, onTrain.B)...)
	if s.noisy() {
		onClean := measure.Input[T]{Classes: train.Classes, W: onTrain.W, B: onTrain.B, Train: onTrain.Train,
			Only: measure.Clean(train.Observed, train.True)}
		if report, err = s.onClean.Measure(onClean); err != nil {
			return nil, err
		}
		rows = append(rows, reportRows(splitClean, report, &s.train, onClean.Only)...)
	}
	onTest := measure.Input[T]{Classes: train.TrueClasses(), Train: onTrain.Test}
	if !train.Latent {
		onTest.W, onTest.B = onTrain.W, onTrain.B
	}
	if report, err = s.onTest.Measure(onTest); err != nil {
		return nil, err
	}
	rows = append(rows, reportRows(splitTest, report, &s.test, nil)...)
	if s.in.held != nil {
		loss, accuracy := s.held.mean(nil)
		rows = append(rows, number(splitHeld, "loss", loss), number(splitHeld, measure.KeyAccuracy, accuracy))
	}
	layers, err := s.measureLayers()
	return append(rows, layers...), err
}

// classifier returns W and b (nil without a bias) in float64, in memory that the next call reuses.
func (s *session[T]) classifier() (weight, bias []float64) {
	w, b := s.engine.head()
	s.weight = widen(s.weight[:0], w.Value)
	if b == nil {
		return s.weight, nil
	}
	s.bias = widen(s.bias[:0], b.Value)
	return s.weight, s.bias
}

// widen appends the numbers in from to to.
func widen[T Float](to []float64, from []T) []float64 {
	for _, x := range from {
		to = append(to, float64(x))
	}
	return to
}

// input returns features of both splits, d wide, in the form that package measure takes.
func (s *session[T]) input(onTrain, onTest []T, d int) measure.Input[T] {
	train := s.in.train
	return measure.Input[T]{Classes: train.Classes, TestClasses: train.TrueClasses(), True: train.True, Redrawn: train.Redrawn,
		Train: measure.Memory(onTrain, d, train.Observed), Test: measure.Memory(onTest, d, s.in.test.True)}
}

// copied is what the train measures of this epoch were taken of.
func (s *session[T]) copied() measure.Input[float64] {
	in := measure.Input[float64]{Classes: s.in.train.Classes, Train: measure.Memory(widen(nil, s.train.features), s.dim, s.in.train.Observed)}
	w, b := s.engine.head()
	in.W = widen(nil, w.Value)
	if b != nil {
		in.B = widen(nil, b.Value)
	}
	return in
}

// noisy reports whether labels were redrawn, so that clean samples have measures of their own.
func (s *session[T]) noisy() bool {
	d := s.cfg.Data
	return d.Noise > 0 || d.NoiseKind == data.NoisePerClass || d.NoiseKind == data.NoiseRandomLabels
}

// measureLayers measures every tapped layer. Measures that need a classifier have no value there, and no row either.
func (s *session[T]) measureLayers() (rows []row, err error) {
	for i, t := range s.taps {
		report, err := s.onLayer.Measure(s.input(s.train.layers[i], s.test.layers[i], t.Dim(s.cfg.flatten())))
		if err != nil {
			return nil, fmt.Errorf("train: layer %s: %w", t.Name, err)
		}
		for key, v := range report.Measures.All() {
			split := splitTrain
			if key == measure.KeyDilation {
				split = splitTest
			}
			r := number(split, key, v)
			r.Layer = t.Name
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.Measure, b.Measure)) })
	return rows, nil
}

// reportRows turns a report into rows, sorted by measure, with the split's loss and accuracy.
func reportRows[T Float](split string, r *measure.Report, e *evaluation[T], only []bool) []row {
	loss, accuracy := e.mean(only)
	rows := []row{number(split, "loss", loss), number(split, measure.KeyAccuracy, accuracy)}
	if e.folded != nil {
		rows = append(rows, number(split, keyFolded, share(e.folded, only)))
	}
	for key, v := range r.Measures.All() {
		switch key {
		case measure.KeyAccuracy, measure.KeyTestAccuracy: // computed from the same logits above
		case measure.KeyDilation:
			rows = append(rows, number(splitTest, key, v))
		default:
			rows = append(rows, number(split, key, v))
		}
	}
	for key, why := range r.Missing {
		at := split
		switch key {
		case measure.KeyAccuracy, measure.KeyTestAccuracy:
			continue
		case measure.KeyDilation:
			if split != splitTrain {
				continue // only the train report sees test features: its row under test must not be replaced
			}
			at = splitTest
		}
		rows = append(rows, row{Split: at, Measure: key, Missing: why})
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.Measure, b.Measure) })
	return rows
}

// number returns a row with a value; a non-finite value, which JSON and plots cannot represent, is replaced by words.
func number(split, key string, v float64) row {
	switch {
	case math.IsNaN(v):
		return row{Split: split, Measure: key, Missing: "not a number"}
	case math.IsInf(v, 0):
		return row{Split: split, Measure: key, Missing: "infinite"}
	}
	return row{Split: split, Measure: key, Value: v}
}
