package script

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/measure"
)

// kept are the paths of captures below root, by the names that they have in the folder of an epoch's features: the split, and of a file what
// follows in its name.
func (c captures) kept(root string) map[string]string {
	to := map[string]string{}
	for split, rel := range c {
		path := filepath.Join(root, rel)
		_, ending, dotted := strings.Cut(filepath.Base(path), ".")
		if info, err := os.Stat(path); err == nil && !info.IsDir() && dotted {
			split += "." + ending
		}
		to[split] = path
	}
	return to
}

// apart reports whether each capture can be moved without another.
func (c captures) apart() bool {
	for split, rel := range c {
		for other, above := range c {
			if split != other && strings.HasPrefix(rel+"/", above+"/") {
				return false
			}
		}
	}
	return true
}

// keptIn lists the captures in the folder of an epoch's features.
func keptIn(folder string) (captures, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	c := captures{}
	for _, e := range entries {
		split, _, _ := strings.Cut(e.Name(), ".")
		if split == trainSplit || split == testSplit || split == oodSplit {
			c[split] = e.Name()
		}
	}
	return c, nil
}

// Later measures opt.Measures of the captures that a finished run keeps, and returns their rows. The script is not started, and neither the
// run nor the lab is changed. Errors: *train.NothingKeptError; others name the file at fault.
func Later(ctx context.Context, lab *store.Reader, run store.Run, opt measure.Options) (all []store.Value, err error) {
	dir := rundir.Dir(lab.RunDir(run.Hash))
	if err := jail.Check(string(dir)); err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	epochs, err := dir.FeatureEpochs()
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	if len(epochs) == 0 {
		return nil, &train.NothingKeptError{Why: "its script has given no features (run.tap), or they were not kept (save_features)",
			Do: "measure other runs, or have the script give them and train again"}
	}
	opt.Context = ctx
	for _, epoch := range epochs {
		found := values{}
		c, err := keptIn(dir.Features(epoch))
		if err == nil {
			err = c.measure(dir.Features(epoch), opt, found)
		}
		if err != nil {
			return nil, fmt.Errorf("script: features of epoch %d of run %.12s: %w", epoch, run.Hash, err)
		}
		for _, v := range found {
			v.Step = int64(epoch)
			all = append(all, v)
		}
	}
	return all, nil
}
