package train

import (
	"fmt"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/sampling"
)

// Bounds of a frame: rows, numbers in its rows (128 KiB), and numbers in its class means (1 MiB); beyond these there are no frames.
const (
	frameRows    = 600
	frameNumbers = 1 << 15
	frameMeans   = 1 << 18
)

// frameArrays are training samples of every true class, the same at every epoch, and the class means by observed label from the epoch's report.
func frameArrays[T Float](s *session[T]) []arrayfile.Array {
	train, d, k := s.in.train, s.dim, s.classes
	m := min(train.N(), frameRows, max(frameNumbers/d, 2*k))
	h, observed, truth := make([]float32, 0, m*d), make([]int32, 0, m), make([]int32, 0, m)
	for _, at := range sampling.PerClass(train.True, m) {
		h = append(h, narrow(s.train.features[at*d:(at+1)*d])...)
		observed, truth = append(observed, train.Observed[at]), append(truth, train.True[at])
	}
	m = len(truth)
	means, counts, all := make([]float32, k*d), make([]int64, k), s.means.Padded(k)
	for c := range k {
		counts[c] = int64(all.ClassCounts[c])
		if counts[c] > 0 { // the mean of no samples is NaN
			copy(means[c*d:], narrow(all.ClassMeans[c*d:(c+1)*d]))
		}
	}
	return append([]arrayfile.Array{
		arrayfile.Of(rundir.FrameFeatures, []int{m, d}, h), arrayfile.Of(rundir.FrameObserved, []int{m}, observed), arrayfile.Of(rundir.FrameTrue, []int{m}, truth),
		arrayfile.Of(rundir.FrameMeans, []int{k, d}, means), arrayfile.Of(rundir.FrameCounts, []int{k}, counts),
	}, headArrays(s)...)
}

// saveFrame writes the frame of a measured epoch, unless it is too large.
func (j *job[T]) saveFrame(epoch int) error {
	if j.s.classes*j.s.dim > frameMeans {
		return nil
	}
	if err := j.files.WriteFrame(epoch, frameArrays(j.s)); err != nil {
		return fmt.Errorf("train: saving some features of epoch %d: %w", epoch, err)
	}
	return nil
}
