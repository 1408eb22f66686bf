package train

import "fmt"

// newest returns the newest complete checkpoint up to which the lab has all rows, or nil. Resuming does not compute earlier epochs,
// so continuing from a checkpoint after a gap would leave a run that lacks them.
func (j *job[T]) newest() (*saved, error) {
	list, err := j.ckpt.Checkpoints()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	last := list[len(list)-1]
	whole, gap, err := Reach(j.lab.Reader, j.lease.Hash, j.cfg, j.opts.RowsElsewhere, last-1)
	if err != nil {
		return nil, err
	}
	if whole < last-1 {
		j.note(fmt.Sprintf("checkpoints after epoch %d are skipped: the lab has no rows of epoch %s; what is missing is computed again", whole+1, gap))
	}
	saved, notes, err := j.ckpt.newest(whole + 1)
	for _, n := range notes {
		j.note(n)
	}
	return saved, err
}

// complete ends the run: its folder holds nothing that earlier attempts left, and the lab has rows of every epoch.
func (j *job[T]) complete() error {
	if j.lease.Generation > 1 {
		if err := j.tidy(); err != nil {
			return err
		}
	}
	if err := j.files.SettleCheckpoints(); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	whole, gap, err := Reach(j.lab.Reader, j.lease.Hash, j.cfg, j.opts.RowsElsewhere, j.cfg.Run.Epochs)
	if err == nil && whole < j.cfg.Run.Epochs {
		err = fmt.Errorf("train: run %s has trained all its epochs, but the lab has no rows of epoch %s; resuming computes them again", short(j.lease.Hash), gap)
	}
	return err
}

// tidy removes what earlier attempts left behind when they were killed: half-written files, and checkpoints that were about to be removed.
func (j *job[T]) tidy() error {
	if err := j.ckpt.prune(j.safe); err != nil {
		return err
	}
	if err := j.files.Sweep(); err != nil {
		return fmt.Errorf("train: removing what an earlier attempt left: %w", err)
	}
	return nil
}
