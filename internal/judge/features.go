package judge

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/rundir"
)

// LoadFeatures reads and checks the features of a run directory. Every error says what was found
// and what was wanted; the arrays of a Features never disagree.
func LoadFeatures(dir string) (*Features, error) {
	path := rundir.Dir(dir).FinalFeatures()
	f := &Features{}
	err := jail.Below(dir, path)
	if err == nil {
		err = arrayfile.Read(path, f.read)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the run has saved no features")
	}
	if err != nil {
		return nil, fmt.Errorf("judge: %s: %w", filepath.Base(path), err)
	}
	return f, nil
}

// read fills f from its file.
func (f *Features) read(file *arrayfile.File) error {
	in := featureReader{file: file}
	var n, m int
	f.TrainH, n, f.D = in.matrix(rundir.TrainFeatures)
	f.TestH, m, _ = in.matrixOf(rundir.TestFeatures, f.D)
	f.Weight, f.K, _ = in.matrixOf(rundir.Weight, f.D)
	f.Bias = in.optional(rundir.Bias, f.K)
	f.Observed = in.labels(rundir.TrainObserved, n, f.K)
	f.True = in.labels(rundir.TrainTrue, n, f.K)
	f.TestTrue = in.labels(rundir.TestTrue, m, f.K)
	for _, v := range in.ints(rundir.TrainRedrawn, n) {
		f.Redrawn = append(f.Redrawn, v != 0)
	}
	f.TrainN, f.TestN = in.total(rundir.TrainSamples, n), in.total(rundir.TestSamples, m)
	return in.err
}

// featureReader reads arrays until the first problem, which it keeps.
type featureReader struct {
	file *arrayfile.File
	err  error
}

func (r *featureReader) array(name string) (arrayfile.Array, bool) {
	if r.err != nil {
		return arrayfile.Array{}, false
	}
	var a arrayfile.Array
	a, r.err = r.file.Load(name)
	return a, r.err == nil
}

func (r *featureReader) matrix(name string) (values []float64, rows, columns int) {
	a, ok := r.array(name)
	if !ok {
		return nil, 0, 0
	}
	if len(a.Shape) != 2 || a.Shape[1] == 0 {
		r.err = fmt.Errorf("%s has shape %v; wanted samples × features", name, a.Shape)
		return nil, 0, 0
	}
	values, r.err = a.Float64s()
	return values, a.Shape[0], a.Shape[1]
}

func (r *featureReader) matrixOf(name string, width int) ([]float64, int, int) {
	v, rows, columns := r.matrix(name)
	if r.err == nil && columns != width {
		r.err = fmt.Errorf("%s is %d wide; train_h is %d wide", name, columns, width)
	}
	return v, rows, columns
}

// has reports whether the file holds an array of this name.
func (r *featureReader) has(name string) bool {
	return slices.ContainsFunc(r.file.Headers(), func(h arrayfile.Header) bool { return h.Name == name })
}

// optional reads a vector that may be absent.
func (r *featureReader) optional(name string, n int) []float64 {
	if r.err != nil || !r.has(name) {
		return nil
	}
	a, ok := r.array(name)
	if !ok {
		return nil
	}
	if a.Len() != n {
		r.err = fmt.Errorf("%s has %d elements; wanted %d", name, a.Len(), n)
		return nil
	}
	var v []float64
	v, r.err = a.Float64s()
	return v
}

// total reads how many samples the run had; if absent, all were saved.
func (r *featureReader) total(name string, saved int) int {
	if r.err != nil || !r.has(name) {
		return saved
	}
	if v := r.ints(name, 1); len(v) == 1 && v[0] >= int64(saved) {
		return int(v[0])
	}
	return saved
}

func (r *featureReader) ints(name string, n int) []int64 {
	a, ok := r.array(name)
	if !ok {
		return nil
	}
	if a.Len() != n {
		r.err = fmt.Errorf("%s has %d elements; its features have %d rows", name, a.Len(), n)
		return nil
	}
	var v []int64
	v, r.err = a.Int64s()
	return v
}

func (r *featureReader) labels(name string, n, classes int) []int {
	var out []int
	for i, v := range r.ints(name, n) {
		if v < 0 || v >= int64(classes) {
			r.err = fmt.Errorf("%s[%d] is %d; wanted a class from 0 to %d", name, i, v, classes-1)
			return nil
		}
		out = append(out, int(v))
	}
	return out
}

// Corrupted reports whether sample i is trained on a label other than its true one.
func (f *Features) Corrupted(i int) bool { return f.Observed[i] != f.True[i] }

// Means returns the mean of the rows that keep selects, by label; zeros for labels without rows.
func (f *Features) Means(h []float64, labels []int, keep func(i int) bool) (mean [][]float64, count []int) {
	mean, count = make([][]float64, f.K), make([]int, f.K)
	for k := range mean {
		mean[k] = make([]float64, f.D)
	}
	for i, k := range labels {
		if keep != nil && !keep(i) {
			continue
		}
		count[k]++
		for j, v := range h[i*f.D : (i+1)*f.D] {
			mean[k][j] += (v - mean[k][j]) / float64(count[k])
		}
	}
	return mean, count
}

// CleanMeans are the class means of the training samples that kept their label.
func (f *Features) CleanMeans() (mean [][]float64, count []int) {
	return f.Means(f.TrainH, f.True, func(i int) bool { return !f.Corrupted(i) })
}

// Spread is the mean distance of a class's samples to a point.
func (f *Features) Spread(h []float64, labels []int, class int, to []float64, keep func(int) bool) float64 {
	sum, n := 0.0, 0
	for i, k := range labels {
		if k == class && (keep == nil || keep(i)) {
			sum += floats.Distance(h[i*f.D:(i+1)*f.D], to, 2)
			n++
		}
	}
	return sum / float64(n)
}

// Labels32 converts labels to the type that measure takes.
func Labels32(v []int) []int32 {
	out := make([]int32, len(v))
	for i, k := range v {
		out[i] = int32(k)
	}
	return out
}
