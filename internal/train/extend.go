package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/version"
)

// adopt turns the last checkpoint of the finished run opts.From into one of this run, with the rows up to it. That run must be the
// beginning of this one: the same except for run.epochs, computed by the same program on the same machine. If it is not, why says so
// and the run starts from the beginning: the numbers are the same either way.
func (j *job[T]) adopt() (s *saved, why string, err error) {
	run, err := j.lab.Run(j.opts.From)
	var unknown *store.NotFoundError
	switch {
	case errors.As(err, &unknown):
		return nil, "this lab does not hold it", nil
	case err != nil:
		return nil, "", err
	case run.Status != store.Done:
		return nil, "it is not done", nil
	case !sameBeginning(run.Config, j.spec):
		return nil, "it differs in more than run.epochs", nil
	case j.cfg.Run.SaveFeatures != "none":
		return nil, "features of its epochs are to be saved (run.save_features)", nil
	}
	shorter, err := FromCanonical(run.Config)
	if err != nil {
		return nil, "", err
	}
	epoch := shorter.Run.Epochs
	if epoch >= j.cfg.Run.Epochs || !j.cfg.measures(epoch) {
		return nil, fmt.Sprintf("this run does not measure its last epoch, %d (run.measure_every)", epoch), nil
	}
	whole, gap, err := Reach(j.lab.Reader, run.Hash, shorter, 0, epoch)
	if err != nil {
		return nil, "", err
	}
	if whole < epoch {
		return nil, fmt.Sprintf("the lab has no rows of its epoch %s, though it says done; `collapse train --again` computes it again", gap), nil
	}
	theirs := &checkpoints{Writer: rundir.Dir(j.lab.RunDir(run.Hash)).Writer(nil), run: run.Hash}
	if s, err = theirs.read(epoch); err != nil {
		return nil, err.Error(), nil
	}
	if s.state.Machine != j.s.engine.machine() || s.state.Version != version.ID() {
		return nil, "another machine or version of the program computed it", nil
	}
	return s, "", j.lease.TakeRows(run.Hash, int64(epoch), seriesEpoch)
}

// sameBeginning compares two canonical configurations without run.epochs. Values derived from the epochs, as the period of a cosine
// schedule may be, are compared as they are.
func sameBeginning(a, b []byte) bool {
	one, err := Without(a, "epochs")
	other, bad := Without(b, "epochs")
	return err == nil && bad == nil && one == other
}

// Without returns a canonical configuration without some keys of its section run: runs of which it is equal are alike but for those.
func Without(config []byte, keys ...string) (string, error) {
	var tree map[string]any
	d := json.NewDecoder(bytes.NewReader(config))
	d.UseNumber() // seeds have more digits than a float64
	if err := d.Decode(&tree); err != nil {
		return "", fmt.Errorf("train: a configuration: %w", err)
	}
	if run, ok := tree["run"].(map[string]any); ok {
		for _, key := range keys {
			delete(run, key)
		}
		if len(run) == 0 {
			delete(tree, "run")
		}
	}
	text, err := store.Canonical(tree)
	return string(text), err
}
