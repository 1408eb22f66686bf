package cli

import (
	"fmt"

	"collapse/internal/store"
	"collapse/internal/upkeep"
)

type runsCheckCmd struct {
	Runs   []string `arg:"" optional:"" complete:"runs" help:"Hashes of runs, or the starts of them; without any, the whole lab is checked."`
	Repair bool     `help:"Open runs that lack something, so that they can be computed again, and delete left-over files. Rows stay."`
}

func (runsCheckCmd) Help() string {
	return `Looks for finished runs without all their epochs, missing or damaged checkpoints, features and frames, checkpoints that the rows do not
reach, values that are no numbers, and what killed processes left behind. Runs that a process works on are passed over. Exits with 1 if
something is wrong and stays so.`
}

// checkedRun is a run in JSON with which something is or was wrong.
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
	out := checked{Checked: found.Checked, Working: found.Working, Runs: []checkedRun{}, Damage: append([]string{}, found.Damage...),
		Leftover: append([]string{}, found.Left...), Repaired: c.Repair && !found.Whole()}
	for _, f := range found.Runs {
		one := checkedRun{Run: f.Run.Hash, Status: f.Run.Status, Wrong: f.Wrong}
		if f.Reopens() || f.Run.Status != store.Done {
			one.Again = f.Again()
		}
		out.Runs = append(out.Runs, one)
	}
	left := len(out.Runs) + len(out.Damage) + len(out.Leftover)
	if out.Repaired {
		if left, err = c.repair(a, found, &out); err != nil {
			return err
		}
	}
	if err := a.emit(out, func() { out.print(a) }); err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("the lab %s is not whole: %s", a.flags.Lab, out.advice(c))
	}
	return nil
}

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

// repair returns how many things are wrong still.
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

func (out checked) print(a *app) {
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
			a.printf("  computes it: %s, after: collapse runs check --repair %.12s\n", r.Again, r.Run)
		case r.Again != "":
			a.printf("  computes it: %s\n", r.Again)
		}
	}
	for _, d := range out.Damage {
		a.printf("database: %s\n", d)
	}
	for _, l := range out.Leftover {
		if out.Repaired {
			a.printf("runs/%s was of no run and is gone\n", l)
		} else {
			a.printf("runs/%s is of no run\n", l)
		}
	}
	a.printf("checked %d runs", out.Checked)
	if out.Working > 0 {
		a.printf(", not those %d that processes work on", out.Working)
	}
	a.printf("; wrong: %d runs, %d left-over folders\n", len(out.Runs), len(out.Leftover))
}

// advice says what to do about what is wrong.
func (out checked) advice(c runsCheckCmd) string {
	switch {
	case len(out.Damage) > 0:
		return "its database is damaged; go back to a copy (`collapse lab copy` makes them), or read what can be read with `sqlite3 lab.sqlite .recover`"
	case c.Repair:
		return "some runs could not be repaired"
	}
	return "`collapse runs check --repair` opens what has to be computed again and deletes what is left over"
}
