package upkeep

import (
	"errors"
	"fmt"

	"collapse.example/collapse/internal/store"
)

// Repaired says what was done to a run, or why nothing was.
type Repaired struct {
	Hash string
	Did  []string
	Err  error
}

// Repair puts right what Check has found. Runs that lack something are open again, and go on from their newest checkpoint that has
// everything before it; rows stay until the run computes them again. Left-over files and folders go. Damage stays.
func Repair(lab *store.Lab, r Report) (runs []Repaired, left []string, err error) {
	for _, f := range r.Runs {
		did, err := f.repair(lab)
		runs = append(runs, Repaired{Hash: f.Run.Hash, Did: did, Err: err})
	}
	if len(r.Left) > 0 {
		left, err = lab.GC()
	}
	return runs, left, err
}

// repair looks at the run again first: it may have changed since it was checked.
func (f Found) repair(lab *store.Lab) (did []string, err error) {
	run, err := lab.Run(f.Run.Hash)
	if err != nil {
		return nil, err
	}
	now, working, err := look(lab.Reader, run)
	switch {
	case err != nil:
		return nil, err
	case working:
		return nil, errors.New("a process works on it now; check it when that has ended")
	}
	i := now.inspection
	if len(now.Wrong) == 0 {
		return did, nil
	}
	clear := func() error { return i.Clear(lab.Reader, run.Hash) }
	if now.Reopens() {
		if err := lab.Reopen(run.Hash, clear); err != nil {
			return did, err
		}
		from := "its start"
		if i.From > 0 {
			from = fmt.Sprintf("checkpoint %d", i.From)
		}
		did = append(did, "open again, from "+from)
	} else if len(i.Drop)+len(i.Stray) > 0 {
		if err := lab.Tidy(run.Hash, clear); err != nil {
			return did, err
		}
	}
	for _, epoch := range i.Drop {
		did = append(did, fmt.Sprintf("checkpoint %d is gone", epoch))
	}
	for _, name := range i.Stray {
		did = append(did, name+" is gone")
	}
	return did, nil
}
