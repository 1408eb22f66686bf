package judge

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"collapse/arrayfile"
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

// FilmEpochs lists the epochs that a run directory has frames of, ascending; none is no error.
func FilmEpochs(dir string) ([]int64, error) {
	entries, err := os.ReadDir(filepath.Join(dir, framesDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("judge: features of epochs: %w", err)
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

// ReadFrame reads the frame that a run directory has of an epoch.
func ReadFrame(dir string, epoch int64) (*Frame, error) {
	path := filepath.Join(dir, framesDir, strconv.FormatInt(epoch, 10)+".npz")
	out := &Frame{Epoch: epoch}
	if err := arrayfile.Read(path, out.read); err != nil {
		return nil, fmt.Errorf("judge: features of epoch %d: %w", epoch, err)
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
