package train

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/rundir"
)

// The files of saved features have names that `collapse measure` knows:
//
//	train-<i>.safetensors   features (n×d), labels (n), true_labels (n), corrupted (n), and each tapped layer under its name
//	test-<i>.safetensors    test_features, test_labels
//	classifier.safetensors  weight (K×d), bias (K)
//
// The features are those on which the epoch's measures were computed.

// shardBytes bounds the features in one file.
const shardBytes = 256 << 20

// epochRule says in which epochs something is done.
type epochRule struct {
	every  int // multiples of it; 0 for none
	last   bool
	listed []int
}

// parseEpochs reads none, last, every=N, all or a list.
func parseEpochs(text string) (epochRule, error) {
	switch text {
	case "none":
		return epochRule{}, nil
	case "last":
		return epochRule{last: true}, nil
	}
	if keep, err := parseKeep(text); err == nil {
		return epochRule{every: keep.every}, nil
	}
	var r epochRule
	for _, part := range split(text) {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return epochRule{}, fmt.Errorf("is %q; wanted none, last, every=N (N at least 1), all, or epochs separated by commas", text)
		}
		r.listed = append(r.listed, n)
	}
	return r, nil
}

// holds reports whether the rule includes an epoch of a run with the given number of epochs.
func (r epochRule) holds(epoch, epochs int) bool {
	return r.every > 0 && epoch%r.every == 0 || r.last && epoch == epochs || slices.Contains(r.listed, epoch)
}

// saveFeatures saves the features of an epoch; if it was measured, those that its measures used.
func (j *job[T]) saveFeatures(epoch int, measured bool) error {
	if !measured {
		if err := j.s.passBoth(); err != nil {
			return err
		}
	}
	if err := j.files.WriteFeatures(epoch, j.s.writeShards); err != nil {
		return fmt.Errorf("train: saving the features of epoch %d: %w", epoch, err)
	}
	return nil
}

// writeShards passes every file of saved features to put.
func (s *session[T]) writeShards(put func(name string, arrays []arrayfile.Array) error) error {
	w, b := s.engine.head()
	head := []arrayfile.Array{arrayfile.Of("weight", w.Shape, w.Value)}
	if b != nil {
		head = append(head, arrayfile.Of("bias", b.Shape, b.Value))
	}
	if err := put(rundir.Classifier, head); err != nil {
		return err
	}
	for i, r := range s.shards(s.in.train.N()) {
		if err := put(rundir.Shard(splitTrain, i), s.trainShard(r[0], r[1])); err != nil {
			return err
		}
	}
	d := s.dim
	for i, r := range s.shards(s.in.test.N()) {
		n := r[1] - r[0]
		err := put(rundir.Shard(splitTest, i), []arrayfile.Array{
			arrayfile.Of("test_features", []int{n, d}, s.test.features[r[0]*d:r[1]*d]),
			arrayfile.Of("test_labels", []int{n}, s.in.test.True[r[0]:r[1]])})
		if err != nil {
			return err
		}
	}
	return nil
}

// shards cuts n samples into ranges whose features and layers fit a file.
func (s *session[T]) shards(n int) (ranges [][2]int) {
	width := s.dim
	for _, t := range s.taps {
		width += t.Dim(s.cfg.flatten())
	}
	size := max(1, shardBytes/(8*width)) // equally many in both precisions
	for first := 0; first < n; first += size {
		ranges = append(ranges, [2]int{first, min(first+size, n)})
	}
	return ranges
}

func (s *session[T]) trainShard(first, end int) []arrayfile.Array {
	train, d, n := s.in.train, s.dim, end-first
	list := []arrayfile.Array{
		arrayfile.Of("features", []int{n, d}, s.train.features[first*d:end*d]),
		arrayfile.Of("labels", []int{n}, train.Observed[first:end]),
		arrayfile.Of("true_labels", []int{n}, train.True[first:end]),
		arrayfile.Of("corrupted", []int{n}, flags(train.Redrawn[first:end])),
	}
	for i, t := range s.taps {
		w := t.Dim(s.cfg.flatten())
		list = append(list, arrayfile.Of(t.Name, []int{n, w}, s.train.layers[i][first*w:end*w]))
	}
	return list
}

// unsaved names the epochs whose features a finished run should have saved but did not, or "".
func (c Plan) unsaved(dir string) string {
	var missing []string
	for epoch := 1; epoch <= c.Run.Epochs; epoch++ {
		if !c.saved.holds(epoch, c.Run.Epochs) {
			continue
		}
		if _, err := os.Stat(rundir.Dir(dir).Features(epoch)); err != nil {
			missing = append(missing, strconv.Itoa(epoch))
		}
	}
	return strings.Join(missing, ", ")
}
