package train

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"collapse/internal/rundir"
)

// FilesBetween lists what a run that goes on elsewhere from its checkpoint of epoch upTo has left in its folder besides that checkpoint since
// the one of epoch after: frames and features of the epochs between, and checkpoints that run.keep names. Paths are relative to dir,
// with slashes. Nothing of it changes or goes any more.
func FilesBetween(dir string, after, upTo int) ([]string, error) {
	c, err := ConfigOf(dir)
	if errors.Is(err, os.ErrNotExist) { // nothing has begun
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

// filesOf lists what the listed epochs have under their names, if they are wanted.
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
