package cli

import (
	"fmt"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/upkeep"
)

type labMergeCmd struct {
	From    string `arg:"" type:"path" help:"Folder of the other lab, which stays as it is."`
	Numbers bool   `help:"Only the numbers: no checkpoints, features or logs."`
}

func (labMergeCmd) Help() string {
	return `What another machine has computed comes home: each run that is done there and not here, with its configuration, values, tags, programs and files. A run that
is done here stays as it is; of one that is unfinished here, what was computed is replaced. Studies are not taken: the command that made one there finds
the runs here. Stopped, the same command goes on.`
}

func (c labMergeCmd) Run(a *app) error {
	lab, err := a.openLab()
	if err != nil {
		return err
	}
	from, err := store.OpenReader(c.From)
	if err != nil {
		return err
	}
	defer from.Close()
	tell := func(done, all int) {}
	if onTerminal(a.stderr) {
		b := newBar(a.stderr, 0, "runs")
		defer b.close()
		tell = func(done, all int) { b.grow(int64(all)); b.set(int64(done), "") }
	}
	m, err := upkeep.Merge(a.ctx, lab, from, c.Numbers, tell)
	if err != nil {
		return err
	}
	err = a.emit(m, func() {
		a.printf("took %s of %s over, and %s (%.1f MB)\n", format.Count(len(m.Runs), "run"), m.From, format.Count(m.Files, "file"), float64(m.Bytes)/1e6)
		for _, left := range []struct {
			runs int
			why  string
		}{{m.Here, "done here before"}, {m.Unfinished, "not done there"}, {len(m.Busy), "being computed here"}, {len(m.Restarted), "started over there meanwhile"}} {
			if left.runs > 0 {
				a.printf("  %s left: %s\n", format.Count(left.runs, "run"), left.why)
			}
		}
		for _, r := range m.Refused {
			a.printf("  %.12s left: %s\n", r.Run, r.Why)
		}
		for _, name := range m.Links {
			a.printf("  %s is a link: it is not copied\n", name)
		}
	})
	if err == nil && len(m.Refused) > 0 {
		return fmt.Errorf("%s of %s could not be taken over; collapse --lab %[2]s runs check says what is wrong", format.Count(len(m.Refused), "run"), format.ShellWord(c.From))
	}
	return err
}
