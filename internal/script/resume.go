package script

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// series is the series of what scripts report and of what is measured for them.
const series = "epoch"

// ReportKey has a row for every epoch that a run has gone through, in seconds since the report before as they were read: it tells which epochs a lab
// has. A report of a later epoch also stands for those that the script skipped.
var ReportKey = store.Key{Series: "report", Measure: "seconds"}

// Reach returns the last epoch, at most upTo and the run's epochs, up to which the lab has the rows of a run without a gap, and the
// first gap if there is one before that. Rows up to epoch elsewhere are in another lab.
func Reach(lab *store.Reader, hash string, epochs int, elsewhere, upTo int64) (whole int64, gap string, err error) {
	last := max(0, min(upTo, int64(epochs)))
	gaps, err := lab.MissingSteps(hash, ReportKey, 1, 1, last)
	if err != nil {
		return 0, "", err
	}
	whole, gap = store.Reach(elsewhere, last, gaps)
	return whole, gap, nil
}

// begin finds where the run continues: after its newest checkpoint whose rows are complete, else after the end of the shorter run
// opts.From, else from the start. Rows of later epochs are deleted.
func (j *job) begin() error {
	whole, _, err := Reach(j.lab.Reader, j.lease.Hash, j.spec.Epochs, j.opts.RowsElsewhere, math.MaxInt64)
	if err != nil {
		return err
	}
	_, over := os.Stat(j.dir.StartsOver())
	if over != nil {
		j.from = j.dir.NewestCheckpoint(int(whole))
	}
	if over != nil && j.from == 0 && j.opts.From != "" {
		why, err := j.adopt()
		if err != nil {
			return err
		}
		if why != "" {
			j.opts.note(fmt.Sprintf("starts at its beginning and not after run %.12s: %s", j.opts.From, why))
		}
	}
	if err := j.writer().RemoveCheckpointsAfter(j.from); err != nil {
		return fmt.Errorf("script: removing checkpoints: %w", err)
	}
	if err := j.writer().RemoveFeatures(func(epoch int) bool { return epoch > j.from }); err != nil {
		return fmt.Errorf("script: removing features: %w", err)
	}
	j.last = j.from
	return j.lease.DeleteAfter(int64(j.from))
}

// startOver has the next attempts begin at the start, as the script does.
func (j *job) startOver(epoch int) error {
	err := rundir.ReplaceFile(j.writer().FS, j.dir.StartsOver(), func(io.Writer) error { return nil })
	return errors.Join(fmt.Errorf("script: it reported epoch %d, and the run continues after epoch %d: the script does not read from_epoch, so that the run starts over", epoch, j.from), err)
}

func (j *job) writer() rundir.Writer { return j.dir.Writer(nil) }

// adopt takes over the last checkpoint of the finished run opts.From, and the rows up to it. That run must be the beginning of this
// one: the same except for run.epochs. If it cannot be continued, why says so.
func (j *job) adopt() (why string, err error) {
	run, err := j.lab.Run(j.opts.From)
	switch {
	case store.IsNotFound(err):
		return "this lab does not hold it", nil
	case err != nil:
		return "", err
	case run.Status != store.Done:
		return "it is not done", nil
	}
	epochs, err := EpochsOf(run.Config)
	if err != nil || epochs >= j.spec.Epochs || !j.spec.sameBeginning(run.Config, epochs) {
		return "it differs in more than run.epochs", nil
	}
	theirs := rundir.Dir(j.lab.RunDir(run.Hash))
	if err := jail.Check(string(theirs)); err != nil {
		return "", fmt.Errorf("script: %w", err)
	}
	epoch := theirs.NewestCheckpoint(epochs)
	if epoch == 0 {
		return "its script has left no checkpoint", nil
	}
	if err := j.copyCheckpoint(theirs, epoch); err != nil {
		return "", err
	}
	if err := j.lease.TakeRows(run.Hash, int64(epoch), series, ReportKey.Series); err != nil {
		return "", err
	}
	j.from = epoch
	return "", nil
}

func (j *job) copyCheckpoint(from rundir.Dir, epoch int) error {
	err := os.MkdirAll(j.dir.CheckpointsDir(), 0o777)
	arriving := j.dir.FetchedCheckpoint()
	if err == nil {
		err = os.RemoveAll(arriving)
	}
	if err == nil {
		err = os.CopyFS(arriving, os.DirFS(from.Checkpoint(epoch)))
	}
	if err == nil {
		err = j.writer().PlaceCheckpoint(epoch)
	}
	if err != nil {
		return fmt.Errorf("script: taking over the checkpoint of run %.12s: %w", j.opts.From, errors.Join(err, os.RemoveAll(arriving)))
	}
	return nil
}

// prune removes checkpoints that nobody continues from: those before the newest one whose rows are complete.
func (j *job) prune() error {
	list, err := j.dir.Checkpoints()
	if err != nil {
		return fmt.Errorf("script: %w", err)
	}
	newest := j.dir.NewestCheckpoint(j.last)
	for _, epoch := range list {
		if epoch < newest {
			if err := j.writer().RemoveCheckpoint(epoch); err != nil {
				return fmt.Errorf("script: removing a checkpoint: %w", err)
			}
		}
	}
	return nil
}

// Begin does what a run does before its script starts, and returns the epoch after which it continues. It is for workers elsewhere,
// which do not have the shorter run from.
func Begin(lab *store.Lab, spec Spec, from string) (epoch int, err error) {
	_, canonical, err := spec.Identity()
	if err != nil {
		return 0, err
	}
	lease, _, err := lab.Lease(store.Spec{Kind: store.Script, Config: canonical, Program: train.ThisProgram()})
	if errors.Is(err, store.ErrDone) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	j := &job{lab: lab, lease: lease, spec: spec, opts: Options{From: from}, dir: rundir.Dir(lease.Dir)}
	err = j.begin()
	return j.from, errors.Join(err, lease.Interrupt())
}
