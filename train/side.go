package train

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"collapse/internal/rundir"
)

// SideFiles lists what a run that goes on elsewhere from its checkpoint of epoch upTo has left in its folder besides that checkpoint since
// the one of epoch after: frames and features of the epochs between, and checkpoints that run.keep names. Paths are relative to dir,
// with slashes. Nothing of it changes or goes any more.
func SideFiles(dir string, after, upTo int) ([]string, error) {
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
	var list []string
	d, rel := rundir.Dir(dir), rundir.Dir("")
	for _, part := range []struct {
		epochs func() ([]int, error)
		name   func(int) string
		wanted func(n int) bool
	}{
		{d.Frames, rel.Frame, between},
		{d.FeatureEpochs, rel.Features, between},
		{d.Checkpoints, rel.Checkpoint, older},
	} {
		epochs, err := part.epochs()
		if err != nil {
			return nil, fmt.Errorf("train: %w", err)
		}
		for _, n := range epochs {
			if !part.wanted(n) {
				continue
			}
			found, err := d.Files(part.name(n))
			if err != nil {
				return nil, fmt.Errorf("train: %w", err)
			}
			list = append(list, found...)
		}
	}
	slices.Sort(list)
	return list, nil
}
