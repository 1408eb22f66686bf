// Package upkeep looks after whole labs: it finds what is wrong with their runs and puts it right (check.go, repair.go), and copies
// labs that are being written to (copy.go). Package train says what the folder of a run must hold, package store what the tables must.
package upkeep

import (
	"errors"
	"fmt"
	"os"

	"collapse.example/collapse/internal/jail"
	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// Report is what is wrong with a lab.
type Report struct {
	Checked int      // runs that were looked at
	Working int      // runs that were passed over: a process works on them
	Runs    []Found  // runs with which something is wrong
	Damage  []string // what SQLite complains of; only a copy of the database helps
	Left    []string // folders below runs that are of no run
}

// Found is a run with which something is wrong.
type Found struct {
	Run   store.Run
	Wrong []string
	Study string // the newest that has the run, "" if none

	inspection train.Inspection
	resumable  bool // its folder has the configuration
	lacks      bool // rows or files, which only computing brings back
}

// Whole reports whether nothing is wrong.
func (r Report) Whole() bool { return len(r.Runs)+len(r.Damage)+len(r.Left) == 0 }

// Again is the command that computes what is missing of the run, once it is open.
func (f Found) Again() string {
	switch {
	case f.Study != "" && f.Run.Kind == store.Script:
		return "collapse study resume " + f.Study + " --allow-scripts DIR (the folder of the script), or collapse study run of its file"
	case f.Study != "":
		return "collapse study resume " + f.Study
	case f.resumable:
		return fmt.Sprintf("collapse train --resume %.12s", f.Run.Hash)
	}
	return "the call of collapse train that it came from (its config.toml is missing)"
}

// Reopens reports whether a repair makes the run open again: what it lacks has to be computed.
func (f Found) Reopens() bool { return f.Run.Status == store.Done && f.lacks }

// Check looks at the runs with the given hashes, or, for none, at the whole lab.
func Check(lab *store.Reader, hashes []string) (Report, error) {
	var report Report
	runs, err := selected(lab, hashes)
	if err != nil {
		return report, err
	}
	for _, run := range runs {
		found, working, err := look(lab, run)
		switch {
		case err != nil:
			return report, err
		case working:
			report.Working++
			continue
		case len(found.Wrong) > 0:
			report.Runs = append(report.Runs, found)
		}
		report.Checked++
	}
	if err := name(lab, report.Runs); err != nil {
		return report, err
	}
	if len(hashes) > 0 {
		return report, nil
	}
	if report.Damage, err = lab.Damage(); err != nil {
		return report, err
	}
	report.Left, _, err = lab.Leftovers()
	return report, err
}

func selected(lab *store.Reader, hashes []string) ([]store.Run, error) {
	if len(hashes) == 0 {
		return lab.List(store.Filter{})
	}
	var runs []store.Run
	for _, hash := range hashes {
		run, err := lab.Run(hash)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// tries bounds how often a run is looked at that changes meanwhile.
const tries = 5

// look inspects one run. What it finds counts if nobody has changed the run meanwhile.
func look(lab *store.Reader, run store.Run) (found Found, working bool, err error) {
	for range tries {
		var held *store.HeldError
		if err := lab.Held(run.Hash); errors.As(err, &held) {
			return found, true, nil
		} else if gone(err) {
			return Found{}, false, nil
		} else if err != nil {
			return found, false, err
		}
		if found, err = inspect(lab, run); err != nil || len(found.Wrong) == 0 {
			return found, false, err
		}
		now, err := lab.Run(run.Hash)
		if gone(err) {
			return Found{}, false, nil
		}
		if err != nil || now.Generation == run.Generation && now.Status == run.Status && lab.Held(run.Hash) == nil {
			return found, false, err
		}
		run = now
	}
	return found, true, nil
}

func gone(err error) bool {
	var missing *store.NotFoundError
	return errors.As(err, &missing)
}

func inspect(lab *store.Reader, run store.Run) (found Found, err error) {
	found.Run = run
	if err := jail.Check(lab.RunDir(run.Hash)); err != nil {
		found.Wrong = []string{err.Error() + "; until then its files are not looked at"}
		return found, nil
	}
	switch run.Kind {
	case store.Train:
		found.inspection, err = train.Inspect(lab, run)
	case store.Script:
		found.inspection, err = script.Inspect(lab, run)
	default:
		if _, err := os.Stat(lab.RunDir(run.Hash)); os.IsNotExist(err) && run.Status == store.Done {
			found.inspection.Wrong = []string{"its folder is missing"}
		}
	}
	if err != nil {
		return found, fmt.Errorf("run %.12s: %w", run.Hash, err)
	}
	found.Wrong = append(found.Wrong, found.inspection.Wrong...)
	for _, name := range found.inspection.Stray {
		found.Wrong = append(found.Wrong, name+" is left over")
	}
	_, err = train.ConfigOf(lab.RunDir(run.Hash))
	found.resumable, found.lacks = err == nil, len(found.inspection.Wrong) > 0
	return found, nil
}

// name finds the studies of runs.
func name(lab *store.Reader, found []Found) error {
	hashes := make([]string, len(found))
	for i, f := range found {
		hashes[i] = f.Run.Hash
	}
	of, err := lab.Memberships(hashes)
	for i := range found {
		found[i].Study = of[found[i].Run.Hash].Study
	}
	return err
}
