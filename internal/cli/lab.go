package cli

import (
	"collapse/internal/store"
	"collapse/internal/upkeep"
)

type labCmd struct {
	Copy labCopyCmd `cmd:"" help:"Copy the whole lab, even while it is written to."`
}

type labCopyCmd struct {
	Dest string `arg:"" type:"path" help:"Folder for the copy. It must be new or empty."`
}

func (labCopyCmd) Help() string {
	return `The copy is an independent lab: finished runs have all their files there, and the others can be resumed there to the same numbers (collapse study
resume, collapse train --resume). Studies may run meanwhile. The workers' queue is not copied. The copy is written next to DEST, under
a name that begins with a dot, and renamed at the end.`
}

func (c labCopyCmd) Run(a *app, r *store.Reader) error {
	done, err := upkeep.Copy(a.ctx, r, c.Dest)
	if err != nil {
		return err
	}
	return a.emit(done, func() {
		a.printf("copied %d runs, %d of them unfinished, and %d files (%.1f MB) to %s\n", done.Runs, done.Open, done.Files, float64(done.Bytes)/1e6, done.Dir)
		for _, hash := range done.Restarted {
			a.printf("  %.12s was started over meanwhile: the copy has it from its start\n", hash)
		}
	})
}

// reader opens the lab for reading until the command ends.
func (a *app) reader() (_ *store.Reader, err error) {
	if a.read == nil {
		a.read, err = store.OpenReader(a.flags.Lab)
	}
	return a.read, err
}

// openLab opens the lab for writing until the command ends. Work waits, and says so, while another process blocks the lab's writers.
func (a *app) openLab() (_ *store.Lab, err error) {
	if a.write == nil {
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
