package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

// files returns the first epoch up to upTo, or upTo+1, whose frame or saved features are incomplete.
func (i *inspector) files(upTo int) (first int, err error) {
	first = upTo + 1
	frames, err := i.frames(upTo)
	if err != nil {
		return 0, err
	}
	features := i.features(upTo)
	for _, found := range []struct {
		what   string
		epochs []int
	}{{"frames", frames}, {"features (run.save_features)", features}} {
		if len(found.epochs) > 0 {
			i.wrong("%s of epochs %s are missing or cannot be read", found.what, nameEpochs(found.epochs))
			first = min(first, found.epochs[0])
		}
	}
	return first, nil
}

// frames lists the measured epochs up to upTo without a frame. Epochs taken from a shorter run, for which this run has no time, have
// theirs there.
func (i *inspector) frames(upTo int) ([]int, error) {
	if i.cfg.Data.Classes*i.featureDim() > frameMeans {
		return nil, nil
	}
	spent, err := i.lab.Series(i.run.Hash, SpentKey)
	if err != nil {
		return nil, err
	}
	var missing []int
	for _, p := range spent {
		epoch := int(p.Step)
		if epoch > upTo || !i.cfg.measures(epoch) {
			continue
		}
		if rundir.Readable(i.dir.Frame(epoch)) != nil {
			missing = append(missing, epoch)
		}
	}
	return missing, nil
}

func (i *inspector) featureDim() int {
	return i.cfg.Net.arch(data.Shape{}, i.cfg.Data.Classes).Features()
}

// features lists the epochs up to upTo whose features should have been saved but were not.
func (i *inspector) features(upTo int) []int {
	rule, err := parseEpochs(i.cfg.Run.SaveFeatures)
	if err != nil {
		return nil // ConfigOf has refused it
	}
	var missing []int
	for epoch := 1; epoch <= upTo; epoch++ {
		if rule.holds(epoch, i.cfg.Run.Epochs) && i.dir.FeaturesReadable(epoch, splitTrain, splitTest) != nil {
			missing = append(missing, epoch)
		}
	}
	return missing
}

// plain shortens an error to the name of the file, where the folder is clear.
func plain(err error) string {
	var path *os.PathError
	if !errors.As(err, &path) {
		return err.Error()
	}
	if errors.Is(err, os.ErrNotExist) {
		return filepath.Base(path.Path) + " is missing"
	}
	return filepath.Base(path.Path) + ": " + path.Err.Error()
}

// stray finds files that a finished run does not need: half-written ones of killed processes, and checkpoints that run.keep does not keep.
func (i *inspector) stray() {
	i.Stray, _ = i.dir.Staging() // unreadable folders are reported elsewhere
	keep, err := parseKeep(i.cfg.Run.Keep)
	if err != nil || len(i.Drop) > 0 {
		return
	}
	for n, epoch := range i.all {
		if n < len(i.all)-2 && !keep.keeps(epoch) {
			i.Stray = append(i.Stray, filepath.ToSlash(rundir.Dir("").Checkpoint(epoch)))
		}
	}
}

// Clear removes what an inspection found from the run's folder: checkpoints that must not be continued from, which are renamed first
// and so never half there, and strays. Rows and complete files stay.
func (i Inspection) Clear(lab *store.Reader, hash string) error {
	dir := lab.RunDir(hash)
	files := rundir.Dir(dir).Writer(nil)
	for _, epoch := range i.Drop {
		if err := files.RemoveCheckpoint(epoch); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("train: %w", err)
		}
	}
	for _, name := range i.Stray {
		if err := files.FS.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return fmt.Errorf("train: %w", err)
		}
	}
	return nil
}
