package train

import (
	"fmt"
	"path/filepath"
	"strconv"

	"collapse/arrayfile"
	"collapse/internal/sampling"
)

// framesDir holds <epoch>.npz for each measured epoch: some training features with their labels, all class means, and the
// classifier. Pages show them one after the other.
const framesDir = "frames"

// Bounds of a frame: rows, numbers in its rows (128 KiB), and numbers in its class means (1 MiB), beyond which there are no frames.
const (
	frameRows    = 600
	frameNumbers = 1 << 15
	frameMeans   = 1 << 18
)

// frameArrays are training samples of every true class, the same at every epoch, and the class means by observed label of the epoch's report.
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
		if counts[c] > 0 { // the mean of no sample is not a number
			copy(means[c*d:], narrow(all.ClassMeans[c*d:(c+1)*d]))
		}
	}
	w, b := s.engine.head()
	bias := make([]float32, k)
	if b != nil {
		copy(bias, narrow(b.Value))
	}
	return []arrayfile.Array{
		arrayfile.Of("h", []int{m, d}, h), arrayfile.Of("observed", []int{m}, observed), arrayfile.Of("true", []int{m}, truth),
		arrayfile.Of("means", []int{k, d}, means), arrayfile.Of("counts", []int{k}, counts),
		arrayfile.Of("weight", w.Shape, narrow(w.Value)), arrayfile.Of("bias", []int{k}, bias),
	}
}

// saveFrame writes the frame of a measured epoch. It is not synced: losing a picture costs less than waiting for the disk.
func (j *job[T]) saveFrame(epoch int) error {
	if j.s.classes*j.s.dim > frameMeans {
		return nil
	}
	path := filepath.Join(j.claim.Dir, framesDir, strconv.Itoa(epoch)+".npz")
	fail := func(err error) error { return fmt.Errorf("train: saving some features of epoch %d: %w", epoch, err) }
	if err := j.fs.MkdirAll(filepath.Dir(path)); err != nil {
		return fail(err)
	}
	f, err := j.fs.Create(path + ".tmp")
	if err != nil {
		return fail(err)
	}
	if err := arrayfile.WriteNPZ(f, frameArrays(j.s)); err != nil {
		f.Close()
		return fail(err)
	}
	if err := f.Close(); err != nil {
		return fail(err)
	}
	if err := j.fs.Rename(path+".tmp", path); err != nil {
		return fail(err)
	}
	return nil
}
