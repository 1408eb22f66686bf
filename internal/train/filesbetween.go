package train

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"collapse.example/collapse/internal/rundir"
)

// FilesBetween lists what a run has left in its folder, other than checkpoint upTo itself, since the checkpoint of epoch after, for
// continuing it elsewhere from checkpoint upTo: frames and features of the epochs between, and checkpoints that run.keep keeps.
// Paths are relative to dir, with slashes. None of these files changes or is removed any more.
func FilesBetween(dir string, after, upTo int) ([]string, error) {
	c, err := ConfigOf(dir)
	if errors.Is(err, os.ErrNotExist) { // the run has not begun
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	keep, err := parseKeep(c.Run.Keep)
	if err != nil {
		return nil, fmt.Errorf("train: run.keep %w", err)
	}
	between := func(n int) bool { return n > after && n <= upTo }
	older := func(n int) bool { return n >= after && n < upTo && keep.keeps(n) }
	d, rel := rundir.Dir(dir), rundir.Dir("")
	frames, noFrames := filesOf(d, d.Frames, rel.Frame, between)
	features, noFeatures := filesOf(d, d.FeatureEpochs, rel.Features, between)
	checkpoints, noCheckpoints := filesOf(d, d.Checkpoints, rel.Checkpoint, older)
	if err := errors.Join(noFrames, noFeatures, noCheckpoints); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	list := slices.Concat(frames, features, checkpoints)
	slices.Sort(list)
	return list, nil
}

// filesOf lists the files of the listed epochs that are wanted, by name.
func filesOf(d rundir.Dir, listed func() ([]int, error), name func(epoch int) string, wanted func(epoch int) bool) (list []string, err error) {
	epochs, err := listed()
	for _, epoch := range epochs {
		if !wanted(epoch) {
			continue
		}
		found, err := d.Files(name(epoch))
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, err
}
