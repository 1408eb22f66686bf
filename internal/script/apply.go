package script

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/measure"
)

// mostForeign is how many lines of other generations or runs are skipped.
const mostForeign = 1000

// mostUnstored is how many rows wait for the lab while there are more lines to read: a transaction for each report of a fast script would take
// longer than the script.
const mostUnstored = 5000

// read applies all complete lines that are there, and stores their rows.
func (j *job) read(ctx context.Context) error {
	err := j.readLines(ctx)
	if stored := j.store(); stored != nil {
		return stored
	}
	return err
}

// store stores the rows that wait for it, and then removes checkpoints that nobody continues from.
func (j *job) store() error {
	if len(j.unstored) == 0 {
		return nil
	}
	if err := j.lease.AppendEpochs(j.unstored); err != nil {
		return err
	}
	j.unstored, j.rowsUnstored = j.unstored[:0], 0
	if j.opts.Reported != nil {
		j.opts.Reported(j.last)
	}
	return j.prune()
}

func (j *job) readLines(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		line, ok, err := j.lines.next()
		var replaced *replacedError
		var long *longError
		switch {
		case errors.As(err, &replaced), errors.As(err, &long):
			return failed("%v", err)
		case err != nil:
			return fmt.Errorf("script: reading %s: %w", eventsFile, err)
		case !ok:
			return nil
		}
		if err := j.apply(ctx, line); err != nil {
			return err
		}
	}
}

// apply applies a line. If the line is wrong, the run fails; trouble with the lab or the disk does not make it fail.
func (j *job) apply(ctx context.Context, line []byte) error {
	e, err := parseEvent(line)
	if err != nil {
		return j.bad("%q: %v", cut(string(line)), err)
	}
	if *e.Generation != j.lease.Generation || e.Run != "" && e.Run != j.lease.Hash {
		if j.foreign++; j.foreign == 1 {
			j.opts.note(fmt.Sprintf("%s, line %d, is of generation %d of run %.12q and is skipped; this is generation %d", eventsFile, j.lines.line, *e.Generation, e.Run, j.lease.Generation))
		}
		if j.foreign > mostForeign {
			return j.bad("more than %d lines are of other generations or runs", mostForeign)
		}
		return nil
	}
	if !j.done.IsZero() {
		return j.bad("it comes after the line that says done")
	}
	if e.Epoch != 0 || e.Values != nil || e.Features != nil || !e.Done {
		if err := j.report(ctx, e); err != nil {
			return err
		}
	}
	if e.Done {
		j.done = time.Now()
		j.noteUnasked(e.Unasked)
	}
	return nil
}

// stateName stands among what a script never asked for, where that is its checkpoint.
const stateName = "run.state"

// noteUnasked says which settings had no effect, as far as they are the study's. Of flags nobody knows: the script may have parsed them.
func (j *job) noteUnasked(names []string) {
	if slices.Contains(names, stateName) {
		j.opts.note("the script saves checkpoints and never asks for run.state, the one to go on from: once interrupted, it cannot go on")
	}
	if j.spec.Args != "" {
		return
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		_, ok := j.spec.Settings[name]
		return !ok && (name != "seed" || j.spec.Seed == nil)
	})
	of := len(j.spec.Settings)
	if _, own := j.spec.Settings["seed"]; j.spec.Seed != nil && !own {
		of++
	}
	switch n := len(names); {
	case n > 0 && n == of:
		j.opts.note(fmt.Sprintf("the script never asked for %s, that is for none of its settings, and none is a flag: run.setting(%q) gives one, and args = \"flags\" under [trainer] passes all",
			format.List(names), names[0]))
	case n > 0:
		j.opts.note(fmt.Sprintf("the script never asked for %s: runs that differ in nothing else are the same (run.setting gives a setting)", format.List(names)))
	}
}

// bad fails the run because of the line that was read last.
func (j *job) bad(format string, args ...any) error {
	return failed("%s, line %d: %s", eventsFile, j.lines.line, fmt.Sprintf(format, args...))
}

// shorter says why a run ends before its horizon, as a script's flag --epochs has it; "" if it does not.
func (j *job) shorter() string {
	if j.spec.Horizon <= j.spec.Epochs {
		return ""
	}
	return fmt.Sprintf(" (a trial that may go on later; its horizon, and --epochs, are %d)", j.spec.Horizon)
}

// report applies the report of an epoch. Captures are measured and then removed; the rows of an epoch with captures are stored at once, as are those
// before it.
func (j *job) report(ctx context.Context, e event) error {
	switch {
	case e.Epoch < 1 || e.Epoch > j.spec.Epochs:
		return j.bad("epoch %d; wanted 1 to %d, where this run ends: `for epoch in run.epochs():` does%s", e.Epoch, j.spec.Epochs, j.shorter())
	case e.Epoch <= j.from && j.last == j.from:
		return j.startOver(e.Epoch)
	case e.Epoch <= j.from:
		return j.bad("epoch %d; the run continues after epoch %d (from_epoch)", e.Epoch, j.from)
	case e.Epoch <= j.last:
		return j.bad("epoch %d; epoch %d was reported before, and epochs rise (one process of several reports)", e.Epoch, j.last)
	}
	if err := j.meet(e); err != nil {
		return err
	}
	if err := j.codeStays(e.Loaded); err != nil {
		return err
	}
	taken, err := j.work.captures(e.Features)
	if err != nil {
		return j.bad("%v", err)
	}
	if len(taken) > 0 {
		if err := j.store(); err != nil {
			return err
		}
	}
	found := values{}
	if err := taken.measure(j.work.dir, measure.Options{Context: ctx, Team: j.opts.Team}, found); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return j.bad("the features of epoch %d: %v", e.Epoch, err)
	}
	found.reported(e.Values)
	if err := j.keepFeatures(e.Epoch, taken); err != nil {
		return err
	}
	rows := j.rows(found, e.Epoch)
	j.unstored, j.rowsUnstored = append(j.unstored, store.EpochRows{Epoch: int64(e.Epoch), Rows: rows}), j.rowsUnstored+len(rows)
	j.last = e.Epoch
	if len(taken) == 0 && j.rowsUnstored < mostUnstored {
		return nil
	}
	if err := j.store(); err != nil {
		return err
	}
	return j.work.drop(taken)
}

// keepFeatures moves an epoch's captures to where they stay, before its rows: a run that is killed in between reports the epoch again.
func (j *job) keepFeatures(epoch int, taken captures) error {
	if len(taken) == 0 || j.spec.SaveFeatures == SaveNone || !taken.apart() {
		return nil
	}
	err := j.writer().TakeFeatures(epoch, taken.kept(filepath.Join(j.dir.Workspaces(), filepath.Base(j.work.dir))))
	if err == nil && j.spec.SaveFeatures != SaveAll {
		err = j.writer().RemoveFeatures(func(e int) bool { return e != epoch })
	}
	if err != nil {
		return fmt.Errorf("script: keeping features: %w", err)
	}
	return nil
}

// meet counts the names of values.
func (j *job) meet(e event) error {
	for name := range e.Values {
		j.names[name] = true
	}
	if len(j.names) > mostNames {
		return j.bad("the run has more than %d names of values", mostNames)
	}
	return nil
}

// rows are the rows of an epoch, and those of ReportKey up to it.
func (j *job) rows(found values, epoch int) []store.Value {
	var list []store.Value
	for _, v := range found {
		v.Step = int64(epoch)
		list = append(list, v)
	}
	// Where a look finds several reports, nobody knows when each was written: the time is spread evenly over them.
	spent := time.Since(j.marked) / time.Duration(1+j.lines.waiting())
	j.marked = j.marked.Add(spent)
	seconds := spent.Seconds() / float64(epoch-j.last)
	for e := j.last + 1; e <= epoch; e++ {
		list = append(list, store.Value{Key: ReportKey, Step: int64(e), Value: seconds})
	}
	return list // in any order: the store sorts them
}
