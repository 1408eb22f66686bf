package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/sampling"
	"collapse.example/collapse/measure"
)

// Film is the frames of one run, all drawn in the same axes.
type Film struct {
	Epochs []int64 // ascending, at least one
	dir    string
	only   *judge.Frame // for a run that saved only its last features
	origin []float64
	axes   [][]float64 // orthonormal, at most three
	words  string
	reach  []rectangle // per panel: the range of every frame
}

// surveyed is how many frames determine the common range.
const surveyed = 24

// OpenFilm finds the epochs with features in a run directory. The error says why there are none.
func OpenFilm(dir string) (*Film, error) {
	epochs, err := judge.FilmEpochs(dir)
	if err != nil {
		return nil, err
	}
	f := &Film{dir: dir, Epochs: epochs}
	if len(epochs) == 0 {
		if err := f.fromLast(); err != nil {
			return nil, err
		}
	}
	return f, f.look()
}

// fromLast makes a film of the single frame in features.npz.
func (f *Film) fromLast() error {
	all, err := judge.LoadFeatures(f.dir)
	if err != nil {
		return err
	}
	f.only, f.Epochs = lastFrame(all), []int64{0}
	return nil
}

// lastFrame takes some samples of every class.
func lastFrame(all *judge.Features) *judge.Frame {
	means, counts := all.Means(all.TrainH, all.Observed, nil)
	out := &judge.Frame{D: all.D, K: all.K, Means: slices.Concat(means...), Counts: counts, Weight: all.Weight, Bias: all.Bias}
	for _, i := range sampling.PerClass(judge.Labels32(all.True), measurement.SampleSize) {
		out.H = append(out.H, all.TrainH[i*all.D:(i+1)*all.D]...)
		out.Observed, out.True = append(out.Observed, all.Observed[i]), append(out.True, all.True[i])
	}
	return out
}

// Whole reports whether there are several epochs to step through.
func (f *Film) Whole() bool { return f.only == nil }

// Nearest is the kept epoch nearest to the one asked for.
func (f *Film) Nearest(epoch int64) int64 {
	best := f.Epochs[0]
	for _, e := range f.Epochs {
		if math.Abs(float64(e-epoch)) < math.Abs(float64(best-epoch)) {
			best = e
		}
	}
	return best
}

// Frame reads one of Epochs.
func (f *Film) Frame(epoch int64) (*judge.Frame, error) {
	if f.only != nil {
		return f.only, nil
	}
	return judge.ReadFrame(f.dir, epoch)
}

// look chooses axes from the last frame and the range from frames of the whole run.
func (f *Film) look() error {
	last, err := f.Frame(f.Epochs[len(f.Epochs)-1])
	if err != nil {
		return err
	}
	f.axes, f.origin, f.words = axes(last)
	step := (len(f.Epochs) + surveyed - 1) / surveyed
	for at := len(f.Epochs) - 1; at >= 0; at -= step {
		frame, err := f.Frame(f.Epochs[at])
		if err != nil {
			return err
		}
		if frame.D != last.D || frame.K != last.K {
			return fmt.Errorf("figure: features of epoch %d have width %d and %d classes; those of the last epoch have %d and %d", frame.Epoch, frame.D, frame.K, last.D, last.K)
		}
		for i, p := range f.panels(frame) {
			if i == len(f.reach) {
				f.reach = append(f.reach, span(p.Series, true))
			}
			r, more := &f.reach[i], span(p.Series, true)
			*r = rectangle{min(r.x0, more.x0), max(r.x1, more.x1), min(r.y0, more.y0), max(r.y1, more.y1)}
		}
	}
	return nil
}

// axes are those of the feature space up to three dimensions, otherwise the main axes of the class means.
func axes(fr *judge.Frame) (axes [][]float64, origin []float64, words string) {
	origin = make([]float64, fr.D)
	if fr.D <= 3 {
		for i := range fr.D {
			e := make([]float64, fr.D)
			e[i] = 1
			axes = append(axes, e)
		}
		return axes, origin, ""
	}
	means, seen := make([][]float64, fr.K), 0.0
	for k := range means {
		means[k] = fr.Means[k*fr.D : (k+1)*fr.D]
		if fr.Counts[k] > 0 {
			seen++
			for j, v := range means[k] {
				origin[j] += v
			}
		}
	}
	for j := range origin {
		origin[j] /= seen
	}
	f := judge.Features{D: fr.D, K: fr.K, TrainH: fr.H, True: fr.Observed}
	return principal(&f, means, origin, 3), origin, "The axes are the main axes of the last epoch's class means around their centre, followed, if these span fewer than three dimensions, by the directions of largest spread around the means. They are the same at every epoch."
}

// Scene draws the features of an epoch alone.
func (f *Film) Scene(epoch int64) (Picture, error) {
	frame, err := f.Frame(epoch)
	if err != nil {
		return Picture{}, err
	}
	return f.scene(frame), nil
}

// Pictures draws the frame of an epoch: the features, the Gram matrix of the class means, and the cosine margins.
func (f *Film) Pictures(epoch int64) ([]Picture, error) {
	frame, err := f.Frame(epoch)
	if err != nil {
		return nil, err
	}
	out := []Picture{f.scene(frame)}
	r, err := measure.Measure(measure.Input[float64]{Classes: frame.K, W: frame.Weight, B: frame.Bias,
		Train: measure.Memory(frame.H, frame.D, judge.Labels32(frame.Observed))}, measure.Options{Measures: []string{measure.KeyMarginMean}, KeepMargins: true, KeepMeans: true})
	if err != nil {
		return nil, fmt.Errorf("figure: features of epoch %d: %w", epoch, err)
	}
	r = r.Padded(frame.K)
	r.ClassMeans, r.ClassCounts = frame.Means, frame.Counts // of all samples, not only those saved
	r.GlobalMean = frame.GlobalMean()
	m := &measurement.Result{Columns: []measurement.Column{measurement.NewColumn("features", r)}}
	for _, draw := range []func(*measurement.Result, *measurement.Column) Picture{gram, margins} {
		if p := draw(m, &m.Columns[0]); len(p.Panels) > 0 {
			out = append(out, p)
		}
	}
	if p := &out[len(out)-1]; p.ID == "margins" {
		p.Notes = append(p.Notes, fmt.Sprintf("For the %s saved for pictures, with the labels trained on.", format.Count(len(frame.Observed), "training sample")))
	}
	return out, nil
}

// scene is the picture of features and class means.
func (f *Film) scene(fr *judge.Frame) Picture {
	p := Picture{Figure: chart.Figure{ID: "features", Columns: 2, Title: "Features and class means",
		Caption: "Small dots are training samples, crosses those that were trained with another label, both coloured by true class; rings are class means of all samples. Ranges and axes are the same at every epoch. " + f.words}}
	if f.Whole() {
		p.Title = fmt.Sprintf("Features and class means at epoch %d", fr.Epoch)
	} else {
		p.Title = "Features and class means at the last epoch"
	}
	p.Panels = f.panels(fr)
	for i := range p.Panels {
		if r := f.reach[i]; r.x1 > r.x0 && r.y1 > r.y0 {
			p.Panels[i].X.Range, p.Panels[i].Y.Range = widened(r.x0, r.x1), widened(r.y0, r.y1)
		}
	}
	p.Table.Columns = []string{"class", "samples", "‖class mean‖"}
	for k := range fr.K {
		p.Table.Rows = append(p.Table.Rows, []string{strconv.Itoa(k), strconv.Itoa(fr.Counts[k]), format.Digits(floats.Norm(fr.Means[k*fr.D:(k+1)*fr.D], 2))})
	}
	return p
}

func widened(lo, hi float64) *[2]float64 {
	return chart.Range(lo-0.04*(hi-lo), hi+0.04*(hi-lo))
}

// panels draws the first axis against the second and, if there is one, the third. Points of the first panel carry their
// third coordinate.
func (f *Film) panels(fr *judge.Frame) []chart.Panel {
	var out []chart.Panel
	for second := 1; second < max(2, len(f.axes)); second++ {
		p := chart.Panel{ID: "axes1-" + strconv.Itoa(second+1), Equal: true, X: chart.Axis{Label: "axis 1"}, Y: chart.Axis{Label: "axis " + strconv.Itoa(second+1)}}
		third := -1
		if second == 1 && len(f.axes) > 2 {
			third = 2
		}
		p.Series = f.series(fr, second, third)
		out = append(out, p)
	}
	return out
}

func (f *Film) series(fr *judge.Frame, second, third int) []chart.Series {
	at := func(s *chart.Series, h []float64) {
		r := minus(h, f.origin)
		x, y := floats.Dot(r, f.axes[0]), 0.0
		if second < len(f.axes) {
			y = floats.Dot(r, f.axes[second])
		}
		s.X, s.Y = append(s.X, x), append(s.Y, y)
		if third >= 0 {
			s.Z = append(s.Z, floats.Dot(r, f.axes[third]))
		}
	}
	var out []chart.Series
	means := chart.Series{ID: "means", Label: "class mean", Kind: chart.Points, Color: chart.Ink, Marker: chart.Ring, Size: 13}
	var mislabelled []chart.Series // in front of all dots
	step := (fr.K + measurement.SampleClasses - 1) / measurement.SampleClasses
	for k := 0; k < fr.K; k += step {
		s := chart.Series{ID: "class-" + strconv.Itoa(k), Kind: chart.Points, Color: chart.ColorFor(k / step), Marker: chart.Dot, Size: 3.2, Faint: true}
		if (fr.K+step-1)/step <= chart.DataColors { // otherwise two names would share a colour
			s.Label = "class " + strconv.Itoa(k)
		}
		wrong := chart.Series{ID: "mislabelled-" + strconv.Itoa(k), Kind: chart.Points, Color: s.Color, Marker: chart.Cross, Size: 4}
		for i, c := range fr.True {
			switch h := fr.H[i*fr.D : (i+1)*fr.D]; {
			case c != k:
			case fr.Observed[i] != c:
				at(&wrong, h)
			default:
				at(&s, h)
			}
		}
		out = append(out, s)
		if len(wrong.X) > 0 {
			if len(mislabelled) == 0 {
				wrong.Label = "trained with another label"
			}
			mislabelled = append(mislabelled, wrong)
		}
		if fr.Counts[k] > 0 {
			at(&means, fr.Means[k*fr.D:(k+1)*fr.D])
			means.Labels = append(means.Labels, strconv.Itoa(k))
		}
	}
	return append(append(out, mislabelled...), means)
}
