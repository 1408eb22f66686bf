package train

import (
	"math"
	"sort"

	"collapse/data"
	"collapse/measure"
	"collapse/nn"
)

// evaluation is one pass over a split in eval mode: its features and what the classifier makes of them.
type evaluation[T Float] struct {
	features []T // N×d
	losses   []float64
	right    []bool // the largest logit is at the label
}

// pass runs the network over a split without augmentation, with running statistics, in chunks of a training batch.
func (s *session[T]) pass(e *evaluation[T], pixels *data.Inputs, labels []int32) {
	n, d, k, chunk := pixels.N(), s.net.FeatureDim(), s.net.Classes(), s.net.MaxBatch()
	if e.features == nil {
		e.features, e.losses, e.right = make([]T, n*d), make([]float64, n), make([]bool, n)
	}
	order := make([]int32, chunk)
	for first := 0; first < n; first += chunk {
		rows := min(chunk, n-first)
		for i := range rows {
			order[i] = int32(first + i)
		}
		x := s.x[:rows*pixels.Dim()]
		s.fill = filler[T]{to: x, from: pixels, samples: order[:rows]}
		s.fill.do(s.team)
		out := s.net.Forward(x, rows, nn.Eval)
		copy(e.features[first*d:], out.Features)
		for i := range rows {
			logits, at := out.Logits[i*k:(i+1)*k], first+i
			e.losses[at] = s.loss.Value(logits, labels[at:at+1])
			e.right[at] = nn.Argmax(logits) == int(labels[at])
		}
	}
}

// passBoth evaluates both splits: observed labels for training samples, true ones for test samples.
func (s *session[T]) passBoth() {
	s.pass(&s.train, s.in.trainPixel, s.in.train.Observed)
	s.pass(&s.test, s.in.testPixel, s.in.test.True)
}

// mean returns loss and accuracy over the samples that only marks; nil: all. NaN without samples.
func (e *evaluation[T]) mean(only []bool) (loss, accuracy float64) {
	n, right := 0, 0
	for i, l := range e.losses {
		if only != nil && !only[i] {
			continue
		}
		n++
		loss += l
		if e.right[i] {
			right++
		}
	}
	return loss / float64(n), float64(right) / float64(n)
}

// Splits of the rows. Train measures are on observed labels; clean are those of the training samples whose observed label is the
// true one, and exists only under label noise.
const (
	splitTrain = "train"
	splitClean = "clean"
	splitTest  = "test"
)

// measureAll computes every row of an epoch. The train rows hold memorization, which needs both splits; dilation is a measure of
// test features and is filed under test.
func (s *session[T]) measureAll() ([]row, error) {
	train, test := s.in.train, s.in.test
	s.passBoth()
	w, b := s.net.Classifier()
	base := measure.Input[T]{Classes: train.Classes, W: w.Value}
	if b != nil {
		base.B = b.Value
	}
	d := s.net.FeatureDim()
	onTrain, onTest := base, base
	onTrain.Train = measure.Memory(s.train.features, d, train.Observed)
	onTrain.Test = measure.Memory(s.test.features, d, test.True)
	onTrain.True, onTrain.Redrawn = train.True, train.Redrawn
	onTest.Train = measure.Memory(s.test.features, d, test.True)

	var rows []row
	report, err := s.onTrain.Measure(onTrain)
	if err != nil {
		return nil, err
	}
	rows = append(rows, reportRows(splitTrain, report, &s.train, nil)...)
	if s.cfg.Data.Noise > 0 {
		onClean := base
		onClean.Train, onClean.Only = onTrain.Train, measure.Clean(train.Observed, train.True)
		if report, err = s.onClean.Measure(onClean); err != nil {
			return nil, err
		}
		rows = append(rows, reportRows(splitClean, report, &s.train, onClean.Only)...)
	}
	if report, err = s.onTest.Measure(onTest); err != nil {
		return nil, err
	}
	return append(rows, reportRows(splitTest, report, &s.test, nil)...), nil
}

// reportRows turns a report into rows, sorted by measure, with the split's loss and accuracy.
func reportRows[T Float](split string, r *measure.Report, e *evaluation[T], only []bool) []row {
	loss, accuracy := e.mean(only)
	rows := []row{number(split, "loss", loss), number(split, measure.KeyAccuracy, accuracy)}
	for key, v := range r.Measures {
		switch key {
		case measure.KeyAccuracy, measure.KeyTestAccuracy: // counted from the same logits above
		case measure.KeyDilation:
			rows = append(rows, number(splitTest, key, v))
		default:
			rows = append(rows, number(split, key, v))
		}
	}
	for key, why := range r.Missing {
		at := split
		if key == measure.KeyDilation {
			if split != splitTrain {
				continue // only the train report knows test features: its row under test must not be replaced
			}
			at = splitTest
		}
		rows = append(rows, row{Split: at, Measure: key, Missing: why})
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].Measure < rows[j].Measure })
	return rows
}

// number is a row with a value; what is not finite has no place in JSON or a plot and is said in words.
func number(split, key string, v float64) row {
	switch {
	case math.IsNaN(v):
		return row{Split: split, Measure: key, Missing: "not a number"}
	case math.IsInf(v, 0):
		return row{Split: split, Measure: key, Missing: "infinite"}
	}
	return row{Split: split, Measure: key, Value: v}
}
