package demo

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/parallel"
)

// Network is the run that `collapse demo` trains: ten classes of the built-in glyphs and features of width 64. In float64 the kernels
// of different processors round so little that they give the same three digits and the same epoch of collapse; in float32 they do
// not. docs/internal/decisions/0005-demo.md says how the settings were found.
func Network() train.Config {
	c := train.Default()
	c.Data.Name, c.Data.Classes, c.Data.SamplesPerClass, c.Data.TestSamplesPerClass = "glyphs", 10, 150, 100
	c.Data.Pipeline = "plain"
	c.Net.Depth, c.Net.Width, c.Net.FeatureDim = 3, 128, 64
	c.Optim.LR, c.Optim.WeightDecay, c.Optim.Schedule.Kind = 0.05, 0.03, "cosine"
	c.Run.Epochs, c.Run.Batch, c.Run.DType = 60, 100, "float64"
	c.Run.CheckpointEvery = c.Run.Epochs
	return c
}

// SmokeNetwork is the smallest that still collapses: it shows that everything works.
func SmokeNetwork() train.Config {
	c := Network()
	c.Data.Classes, c.Data.SamplesPerClass, c.Data.TestSamplesPerClass = 4, 50, 20
	c.Net.Depth, c.Net.Width, c.Net.FeatureDim = 2, 64, 16
	c.Run.Epochs, c.Run.Batch = 30, 25
	c.Run.CheckpointEvery = c.Run.Epochs
	return c
}

// Moment is what one epoch shows.
type Moment struct {
	Epoch     int                `json:"epoch"`
	Collapsed bool               `json:"collapsed"` // the headline of `collapse measure` says so
	Dials     []measurement.Dial `json:"dials"`
}

// Collapse is a network on its way to collapse.
type Collapse struct {
	Result  train.Result
	Moments []Moment
	Epoch   int             // the first from which on every epoch is Collapsed; 0: the last one is not
	Report  *measure.Report // of the last epoch, in full
	Errors  map[string]float64
}

// RunCollapse trains the network and measures each epoch. A network that the lab holds already, or that was interrupted, is trained
// again from its start, to the same bits.
func RunCollapse(ctx context.Context, lab *store.Lab, c train.Config, team *parallel.Team, show func(Moment)) (*Collapse, error) {
	w := &watcher{out: &Collapse{}, team: team, show: show}
	opts := train.Options{Team: team, Again: true, Features: w.measure}
	for attempt := 0; len(w.out.Moments) < c.Run.Epochs && attempt < 2; attempt++ {
		w.out.Moments = nil
		result, err := train.Run(ctx, c, lab, opts)
		if err == nil {
			err = w.err
		}
		if err != nil {
			return nil, err
		}
		w.out.Result = result
	}
	w.out.Epoch = since(w.out.Moments)
	return w.out, w.finish()
}

// since is the first epoch from which on all moments are collapsed.
func since(moments []Moment) int {
	epoch := 0
	for _, m := range slices.Backward(moments) {
		if !m.Collapsed {
			break
		}
		epoch = m.Epoch
	}
	return epoch
}

// watcher measures epochs as they end.
type watcher struct {
	out  *Collapse
	team *parallel.Team
	show func(Moment)
	last measure.Input[float64]
	err  error // the first
}

// dialKeys are what an epoch's dials and headline need.
var dialKeys = []string{measure.KeyNC1Pinv, measure.KeyNC2MeansCentred, measure.KeyNC3Centred, measure.KeyNC4NCCMismatch}

func (w *watcher) measure(epoch int, in measure.Input[float64]) {
	if w.err != nil {
		return
	}
	r, err := measure.Measure(in, measure.Options{Team: w.team, Measures: dialKeys, Null: measure.DefaultNull})
	if err != nil {
		w.err = err
		return
	}
	w.last = in
	m := Moment{Epoch: epoch, Collapsed: measurement.Collapsed(r), Dials: measurement.Dials(r)}
	w.out.Moments = append(w.out.Moments, m)
	w.show(m)
}

// finish measures the last epoch in full, and how exactly its samples determine the dials.
func (w *watcher) finish() (err error) {
	if w.out.Report, err = measure.Measure(w.last, measure.Options{Team: w.team, Null: measure.DefaultNull, Uncertainty: true}); err != nil {
		return err
	}
	w.out.Errors, err = jackknife(w.last, w.team)
	return err
}

const jackknifeGroups = 10

// jackknife returns the standard errors of the dials over samples: each is measured without every tenth sample of each class in turn
// (Efron & Tibshirani 1993, Section 11.5).
func jackknife(in measure.Input[float64], team *parallel.Team) (map[string]float64, error) {
	found := map[string][]float64{}
	for group := range jackknifeGroups {
		in.Only = without(in.Train.Labels, group)
		r, err := measure.Measure(in, measure.Options{Team: team, Measures: dialKeys})
		if err != nil {
			return nil, err
		}
		for _, key := range dialKeys {
			if v, ok := r.Value(key); ok {
				found[key] = append(found[key], v)
			}
		}
	}
	out := map[string]float64{}
	for key, values := range found {
		if len(values) == jackknifeGroups {
			out[key] = math.Sqrt((jackknifeGroups - 1) * stat.PopVariance(values, nil))
		}
	}
	return out, nil
}

// without marks all samples but every tenth of each class, the first left out being the given one.
func without(labels []int32, group int) []bool {
	kept, seen := make([]bool, len(labels)), map[int32]int{}
	for i, k := range labels {
		kept[i] = seen[k]%jackknifeGroups != group
		seen[k]++
	}
	return kept
}
