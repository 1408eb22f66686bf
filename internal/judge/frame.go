package judge

import (
	"fmt"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/rundir"
)

// Frame is what a run saved of its features at one epoch: some samples, and the class means over all.
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

// FilmEpochs lists the epochs with frames in a run directory, ascending; none is not an error.
func FilmEpochs(dir string) ([]int64, error) {
	epochs, err := rundir.Dir(dir).Frames()
	if err != nil {
		return nil, fmt.Errorf("judge: features of epochs: %w", err)
	}
	out := make([]int64, len(epochs))
	for i, epoch := range epochs {
		out[i] = int64(epoch)
	}
	return out, nil
}

// ReadFrame reads the frame of an epoch from a run directory.
func ReadFrame(dir string, epoch int64) (*Frame, error) {
	out := &Frame{Epoch: epoch}
	path := rundir.Dir(dir).Frame(int(epoch))
	err := jail.Below(dir, path)
	if err == nil {
		err = arrayfile.Read(path, out.read)
	}
	if err != nil {
		return nil, fmt.Errorf("judge: features of epoch %d: %w", epoch, err)
	}
	return out, nil
}

// read fills a frame from its file.
func (out *Frame) read(file *arrayfile.File) error {
	in := featureReader{file: file}
	var m int
	out.H, m, out.D = in.matrix(rundir.FrameFeatures)
	out.Means, out.K, _ = in.matrixOf(rundir.FrameMeans, out.D)
	out.Observed, out.True = in.labels(rundir.FrameObserved, m, out.K), in.labels(rundir.FrameTrue, m, out.K)
	for _, n := range in.ints(rundir.FrameCounts, out.K) {
		out.Counts = append(out.Counts, int(n))
	}
	var rows int
	out.Weight, rows, _ = in.matrixOf(rundir.Weight, out.D)
	out.Bias = in.optional(rundir.Bias, out.K)
	if in.err == nil && rows != out.K {
		in.err = fmt.Errorf("weight has %d rows; wanted a row for each of %d classes", rows, out.K)
	}
	return in.err
}

// GlobalMean is the mean of all the run's samples, from the class means.
func (fr *Frame) GlobalMean() []float64 {
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
