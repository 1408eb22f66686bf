package cli

import (
	"fmt"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/upkeep"
)

type runsCheckCmd struct {
	Runs   []string `arg:"" optional:"" complete:"runs" help:"Hashes of runs, or the starts of them; default: the whole lab."`
	Repair bool     `help:"Reopen runs that lack something, so that they can be computed again, and delete left-over files. Rows stay."`
}

func (runsCheckCmd) Help() string {
	return `Looks for finished runs without all their epochs, missing or damaged checkpoints, features and frames, checkpoints that the rows do not
reach, values that are not numbers, and what killed processes left behind. Runs that a process is working on are skipped. Exits with 1 if
something is wrong and was not repaired.`
}

// checkedRun is the JSON of a run with a fault, repaired or not.
type checkedRun struct {
	Run    string       `json:"run"`
	Status store.Status `json:"status"`
	Wrong  []string     `json:"wrong"`
	Again  string       `json:"again,omitempty"` // the command that computes what is missing, after a repair
	Did    []string     `json:"did,omitempty"`   // by --repair
	Error  string       `json:"error,omitempty"` // why --repair could not
}

// checked is what `runs check` prints.
type checked struct {
	Checked  int          `json:"checked"`
	Working  int          `json:"working"` // runs that a process works on
	Runs     []checkedRun `json:"runs"`
	Damage   []string     `json:"damage"`    // of the database
	Leftover []string     `json:"leftovers"` // folders of no run
	Repaired bool         `json:"repaired"`
}

func (c runsCheckCmd) Run(a *app, r *store.Reader) error {
	hashes, err := findAll(r, c.Runs)
	if err != nil {
		return err
	}
	found, err := upkeep.Check(r, hashes)
	if err != nil {
		return err
	}
	out := checkedOf(found)
	out.Repaired = c.Repair && !found.Whole()
	left := out.faults()
	if out.Repaired {
		if left, err = c.repair(a, found, out); err != nil {
			return err
		}
	}
	if err := a.emit(out, func() { out.print(a) }); err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("the lab %s is damaged or incomplete: %s", a.flags.Lab, out.advice(c))
	}
	return nil
}

func checkedOf(found upkeep.Report) *checked {
	out := &checked{Checked: found.Checked, Working: found.Working, Runs: []checkedRun{}, Damage: append([]string{}, found.Damage...),
		Leftover: append([]string{}, found.Left...)}
	for _, f := range found.Runs {
		one := checkedRun{Run: f.Run.Hash, Status: f.Run.Status, Wrong: f.Wrong}
		if f.Reopens() || f.Run.Status != store.Done {
			one.Again = f.Again()
		}
		out.Runs = append(out.Runs, one)
	}
	return out
}

// faults is the number of things that are wrong.
func (out *checked) faults() int { return len(out.Runs) + len(out.Damage) + len(out.Leftover) }

// findAll returns the hashes of runs that are given by their starts.
func findAll(r *store.Reader, prefixes []string) ([]string, error) {
	var hashes []string
	for _, prefix := range prefixes {
		run, err := r.Find(prefix)
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, run.Hash)
	}
	return hashes, nil
}

// repair returns the number of faults left.
func (c runsCheckCmd) repair(a *app, found upkeep.Report, out *checked) (left int, err error) {
	lab, err := a.openLab()
	if err != nil {
		return 0, err
	}
	runs, _, err := upkeep.Repair(lab, found)
	for i, r := range runs {
		if out.Runs[i].Did = r.Did; r.Err != nil {
			out.Runs[i].Error = r.Err.Error()
			left++
		}
	}
	return left + len(out.Damage), err
}

func (out *checked) print(a *app) {
	for _, r := range out.Runs {
		a.printf("%.12s  %s\n", r.Run, r.Status)
		for _, w := range r.Wrong {
			a.printf("  wrong: %s\n", w)
		}
		for _, d := range r.Did {
			a.printf("  now: %s\n", d)
		}
		if r.Error != "" {
			a.printf("  not repaired: %s\n", r.Error)
		}
		switch {
		case r.Again != "" && out.Repaired:
			a.printf("  computes it: %s\n", r.Again)
		case r.Again != "" && r.Status == store.Done:
			a.printf("  to compute it: %s, after: collapse runs check --repair %.12s\n", r.Again, r.Run)
		case r.Again != "":
			a.printf("  computes it: %s\n", r.Again)
		}
	}
	for _, d := range out.Damage {
		a.printf("database: %s\n", d)
	}
	for _, l := range out.Leftover {
		if out.Repaired {
			a.printf("runs/%s belonged to no run and is deleted\n", l)
		} else {
			a.printf("runs/%s belongs to no run\n", l)
		}
	}
	a.printf("checked %d runs", out.Checked)
	if out.Working > 0 {
		a.printf(", skipped %d that processes are working on", out.Working)
	}
	a.printf("; wrong: %d runs, %d left-over folders\n", len(out.Runs), len(out.Leftover))
}

// advice says what to do about what is wrong.
func (out *checked) advice(c runsCheckCmd) string {
	switch {
	case len(out.Damage) > 0:
		return "its database is damaged; restore a copy (`collapse lab copy` makes them), or recover what can be read with `sqlite3 lab.sqlite .recover`"
	case c.Repair:
		return "some runs could not be repaired"
	}
	return "`collapse runs check --repair` reopens runs that must be computed again and deletes left-over files"
}
