package cli

import (
	"fmt"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/upkeep"
)

type labCmd struct {
	Copy  labCopyCmd  `cmd:"" help:"Copy the whole lab, even while it is written to."`
	Merge labMergeCmd `cmd:"" help:"Take over the finished runs of another lab."`
	Check labCheckCmd `cmd:"" help:"Read the whole lab, perhaps a stranger's, and say what in it this program does not write."`
}

type labCopyCmd struct {
	Dest    string `arg:"" type:"path" help:"Folder for the copy. It must be new or empty."`
	Numbers bool   `help:"Only the numbers: no checkpoints, features or logs. Finished runs stay finished, the others begin at their start there."`
}

func (labCopyCmd) Help() string {
	return `The copy is an independent lab: finished runs have all their files there, and the others can be resumed there to the same numbers (collapse study
resume, collapse train --resume). Studies may run meanwhile. The workers' queue is not copied. The copy is written next to DEST, under
a name that begins with a dot, and renamed at the end.`
}

func (c labCopyCmd) Run(a *app, r *store.Reader) error {
	copied := upkeep.Copy
	if c.Numbers {
		copied = upkeep.CopyRows
	}
	done, err := copied(a.ctx, r, c.Dest)
	if err != nil {
		return err
	}
	return a.emit(done, func() {
		a.printf("copied %d runs, %d of them unfinished, and %d files (%.1f MB) to %s\n", done.Runs, done.Open, done.Files, float64(done.Bytes)/1e6, done.Dir)
		for _, hash := range done.Restarted {
			a.printf("  %.12s was started over meanwhile: the copy has it from its start\n", hash)
		}
		for _, name := range done.Links {
			a.printf("  %s is a link: it is not copied\n", name)
		}
	})
}

type labCheckCmd struct{}

func (labCheckCmd) Help() string {
	return `Opens no more than is safe: it follows no link and changes nothing. Says which tables, views, rows, files and links are not what this program writes,
and then what collapse runs check says of the runs. Exits with 1 if there is anything.`
}

// labChecked is what lab check prints.
type labChecked struct {
	Foreign []string `json:"foreign"`
	Runs    *checked `json:"runs,omitempty"` // missing if the tables cannot be trusted
}

func (labCheckCmd) Run(a *app) error {
	a.onlyComputes()
	foreign, readable, err := store.Foreign(a.ctx, a.flags.Lab)
	if err != nil {
		return err
	}
	out := labChecked{Foreign: append([]string{}, foreign...)}
	if readable {
		r, err := a.reader()
		if err != nil {
			return err
		}
		found, err := upkeep.Check(r, nil)
		if err != nil {
			return err
		}
		out.Runs = checkedOf(found)
	}
	err = a.emit(out, func() {
		for _, what := range out.Foreign {
			a.printf("not this program's: %s\n", what)
		}
		if out.Runs != nil {
			out.Runs.print(a)
		}
	})
	switch {
	case err != nil:
		return err
	case len(foreign) > 0:
		return fmt.Errorf("the lab %s holds what this program does not write (%d findings)", a.flags.Lab, len(foreign))
	case out.Runs.faults() > 0:
		return fmt.Errorf("the lab %s is damaged or incomplete: %s", a.flags.Lab, out.Runs.advice(runsCheckCmd{}))
	}
	return nil
}

// reader opens the lab for reading until the command ends. A command that only reads it may be abandoned at any point.
func (a *app) reader() (_ *store.Reader, err error) {
	if a.read == nil {
		if a.write == nil {
			a.onlyComputes()
		}
		a.read, err = store.OpenReader(a.flags.Lab)
	}
	return a.read, err
}

// openLab opens the lab for writing until the command ends. Work waits, and says so, while another process blocks the lab's writers.
func (a *app) openLab() (_ *store.Lab, err error) {
	if a.write == nil {
		a.leaveable.Store(false)
		a.write, err = store.Open(a.flags.Lab, store.Options{Context: a.ctx, Waiting: func(e *store.BusyError) {
			a.notef("collapse: waiting: %v\n", e)
		}})
	}
	return a.write, err
}

func (a *app) closeLab() {
	if a.read != nil {
		a.read.Close()
	}
	if a.write != nil {
		a.write.Close()
	}
}
