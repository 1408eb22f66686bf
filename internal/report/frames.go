package report

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"collapse/arrayfile"
	"collapse/internal/chart"
	"collapse/measure"
)

// framesDir holds a small sample of the training features of every measured epoch, <epoch>.npz each.
const framesDir = "frames"

// Frame is what a run kept of its features at one epoch: some samples, and the class means of all.
type Frame struct {
	Epoch          int64
	D, K           int
	H              []float64 // M×d, row-major
	Observed, True []int
	Means          []float64 // K×d, by observed label
	Counts         []int     // samples of each class behind Means
	Weight         []float64 // K×d
	Bias           []float64 // K; nil: no bias
}

// Film is the frames of one run, seen from one side: all are drawn in the same axes.
type Film struct {
	Epochs []int64 // ascending, at least one
	dir    string
	only   *Frame // of a run that kept its last features alone
	origin []float64
	axes   [][]float64 // orthonormal, at most three
	words  string
	reach  []rectangle // of each panel: room for every frame
}

// surveyed is how many frames decide the room of all.
const surveyed = 24

// OpenFilm looks up which epochs a run directory has features of. The error says why there are none.
func OpenFilm(dir string) (*Film, error) {
	epochs, err := FilmEpochs(dir)
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

// FilmEpochs lists the epochs that a run directory has frames of, ascending; none is no error.
func FilmEpochs(dir string) ([]int64, error) {
	entries, err := os.ReadDir(filepath.Join(dir, framesDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("report: features of epochs: %w", err)
	}
	var out []int64
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".npz"); ok {
			if epoch, err := strconv.ParseInt(name, 10, 64); err == nil {
				out = append(out, epoch)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// fromLast makes a film of the one frame that features.npz is.
func (f *Film) fromLast() error {
	all, err := loadFeatures(f.dir)
	if err != nil {
		return err
	}
	n := min(len(all.Observed), SampleSize)
	means, counts := all.means(all.TrainH, all.Observed, nil)
	f.only = &Frame{D: all.D, K: all.K, H: all.TrainH[:n*all.D], Observed: all.Observed[:n], True: all.True[:n],
		Means: slices.Concat(means...), Counts: counts, Weight: all.Weight, Bias: all.Bias}
	f.Epochs = []int64{0}
	return nil
}

// Whole reports whether there are several epochs to go through.
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
func (f *Film) Frame(epoch int64) (*Frame, error) {
	if f.only != nil {
		return f.only, nil
	}
	path := filepath.Join(f.dir, framesDir, strconv.FormatInt(epoch, 10)+".npz")
	out := &Frame{Epoch: epoch}
	if err := arrayfile.Read(path, out.read); err != nil {
		return nil, fmt.Errorf("report: features of epoch %d: %w", epoch, err)
	}
	return out, nil
}

// read fills a frame from its file.
func (out *Frame) read(file *arrayfile.File) error {
	in := featureReader{file: file}
	var m int
	out.H, m, out.D = in.matrix("h")
	out.Means, out.K, _ = in.matrixOf("means", out.D)
	out.Observed, out.True = in.labels("observed", m, out.K), in.labels("true", m, out.K)
	for _, n := range in.ints("counts", out.K) {
		out.Counts = append(out.Counts, int(n))
	}
	var rows int
	out.Weight, rows, _ = in.matrixOf("weight", out.D)
	out.Bias = in.optional("bias", out.K)
	if in.err == nil && rows != out.K {
		in.err = fmt.Errorf("weight has %d rows; wanted a row for each of %d classes", rows, out.K)
	}
	return in.err
}

// look chooses axes from the last frame and room from frames of the whole run.
func (f *Film) look() error {
	last, err := f.Frame(f.Epochs[len(f.Epochs)-1])
	if err != nil {
		return err
	}
	f.axes, f.origin, f.words = last.axes()
	step := (len(f.Epochs) + surveyed - 1) / surveyed
	for at := len(f.Epochs) - 1; at >= 0; at -= step {
		frame, err := f.Frame(f.Epochs[at])
		if err != nil {
			return err
		}
		if frame.D != last.D || frame.K != last.K {
			return fmt.Errorf("report: features of epoch %d are %d wide in %d classes, those of the last %d in %d", frame.Epoch, frame.D, frame.K, last.D, last.K)
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

// axes are the feature space's own up to three dimensions, else the main axes of the class means.
func (fr *Frame) axes() (axes [][]float64, origin []float64, words string) {
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
	f := Features{D: fr.D, K: fr.K, TrainH: fr.H, True: fr.Observed}
	return f.principal(means, origin, 3), origin, "The axes are the main axes of the last epoch's class means, around their centre; where these span less than three dimensions, the directions of largest spread around them. They are the same at every epoch."
}

// Pictures draws the frame of an epoch: the features, the Gram matrix of the class means, and the cosine margins.
func (f *Film) Pictures(epoch int64) ([]Picture, error) {
	frame, err := f.Frame(epoch)
	if err != nil {
		return nil, err
	}
	out := []Picture{f.scene(frame)}
	r, err := measure.Measure(measure.Input[float64]{Classes: frame.K, W: frame.Weight, B: frame.Bias,
		Train: measure.Memory(frame.H, frame.D, narrow32(frame.Observed))}, measure.Options{Measures: []string{measure.KeyMarginMean}, KeepMargins: true, KeepMeans: true})
	if err != nil {
		return nil, fmt.Errorf("report: features of epoch %d: %w", epoch, err)
	}
	r = r.Padded(frame.K)
	r.ClassMeans, r.ClassCounts = frame.Means, frame.Counts // of all samples, not of those kept
	r.GlobalMean = globalMean(frame)
	m := &Measured{Columns: []MeasuredColumn{NewMeasuredColumn("features", r)}}
	for _, draw := range []func(*MeasuredColumn) picture{m.gram, m.margins} {
		if p := draw(&m.Columns[0]); len(p.Panels) > 0 {
			out = append(out, p)
		}
	}
	if p := &out[len(out)-1]; p.ID == "margins" {
		p.Notes = append(p.Notes, fmt.Sprintf("Of the %s kept for pictures, with the labels trained on.", count(len(frame.Observed), "training sample")))
	}
	return out, nil
}

func narrow32(v []int) []int32 {
	out := make([]int32, len(v))
	for i, k := range v {
		out[i] = int32(k)
	}
	return out
}

// globalMean is the mean of all samples, from the class means.
func globalMean(fr *Frame) []float64 {
	out, n := make([]float64, fr.D), 0.0
	for k, c := range fr.Counts {
		if c == 0 {
			continue
		}
		n += float64(c)
		for j := range out {
			out[j] += (fr.Means[k*fr.D+j] - out[j]) * float64(c) / n
		}
	}
	return out
}

// scene is the picture of features and class means.
func (f *Film) scene(fr *Frame) Picture {
	p := Picture{Figure: chart.Figure{ID: "features", Columns: 2, Title: "Features and class means",
		Caption: "Small dots are training samples, coloured by true class; crosses were trained with another label; rings are class means of all samples. Room and axes are the same at every epoch. " + f.words}}
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
		p.Table.Rows = append(p.Table.Rows, []string{strconv.Itoa(k), strconv.Itoa(fr.Counts[k]), digits(norm(fr.Means[k*fr.D : (k+1)*fr.D]))})
	}
	return p
}

func widened(lo, hi float64) *[2]float64 {
	return chart.Range(lo-0.04*(hi-lo), hi+0.04*(hi-lo))
}

// panels draws the first axis against the second and, where there is one, against the third. Points of the first panel carry
// their third coordinate.
func (f *Film) panels(fr *Frame) []chart.Panel {
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

func (f *Film) series(fr *Frame, second, third int) []chart.Series {
	at := func(s *chart.Series, h []float64) {
		r := minusVec(h, f.origin)
		x, y := dot(r, f.axes[0]), 0.0
		if second < len(f.axes) {
			y = dot(r, f.axes[second])
		}
		s.X, s.Y = append(s.X, x), append(s.Y, y)
		if third >= 0 {
			s.Z = append(s.Z, dot(r, f.axes[third]))
		}
	}
	var out []chart.Series
	means := chart.Series{ID: "means", Label: "class mean", Kind: chart.Points, Color: chart.Ink, Marker: chart.Ring, Size: 13}
	wrong := chart.Series{ID: "mislabelled", Label: "trained with another label", Kind: chart.Points, Color: chart.Ink, Marker: chart.Cross, Size: 5}
	step := (fr.K + SampleClasses - 1) / SampleClasses
	for k := 0; k < fr.K; k += step {
		s := chart.Series{ID: "class-" + strconv.Itoa(k), Label: "class " + strconv.Itoa(k), Kind: chart.Points, Color: chart.ColorFor(k / step), Marker: chart.Dot, Size: 3.2, Faint: true}
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
		if fr.Counts[k] > 0 {
			at(&means, fr.Means[k*fr.D:(k+1)*fr.D])
			means.Labels = append(means.Labels, strconv.Itoa(k))
		}
	}
	if len(wrong.X) > 0 {
		out = append(out, wrong)
	}
	return append(out, means)
}
