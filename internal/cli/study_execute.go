package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/coordinator"
)

type studyResumeCmd struct {
	Names        []string `arg:"" name:"study" complete:"studies" help:"Names of studies (see collapse study list)."`
	AllowScripts string   `help:"Folder with the code of your own trainers: start the studies' scripts there." type:"existingdir" placeholder:"DIR"`
	whereFlags
}

func (c *studyResumeCmd) Run(a *app) error {
	o, err := c.options(a)
	if err != nil {
		return err
	}
	o.Scripts, a.again = c.AllowScripts, c.AllowScripts != ""
	if _, err := os.Stat(filepath.Join(a.flags.Lab, "lab.sqlite")); err != nil {
		return fmt.Errorf("there is no lab in %s, so there is no study %s; is %s a file, or is --lab wrong?", a.flags.Lab, c.Names[0], c.Names[0])
	}
	lab, err := a.openLab()
	if err != nil {
		return err
	}
	defer c.beside(a)()
	for _, name := range c.Names {
		if err := lab.OpenStudy(name); err != nil {
			return err
		}
	}
	searches, grids, err := resumeSearches(a, lab, c.Names, o)
	if err != nil {
		return err
	}
	return executeBeside(a, lab, searches, grids, o)
}

// executed is the JSON document of `collapse study run` and `resume`.
type executed struct {
	Studies   []string `json:"studies"`
	Runs      int      `json:"runs"`
	Done      int      `json:"done"`
	Failed    int      `json:"failed"`
	Cancelled bool     `json:"cancelled"`
	Seconds   float64  `json:"seconds"`
}

// executeBeside computes those studies of the lab that are grids, and reports how they and the searches before them ended: in one
// document, a list if there are several.
func executeBeside(a *app, lab *store.Lab, searches []searched, grids []string, o coordinator.Options) error {
	var documents []any
	for _, s := range searches {
		documents = append(documents, s)
	}
	var sum executed
	if len(grids) > 0 {
		var err error
		if sum, err = drive(a.ctx, a, lab, grids, o); err != nil {
			return err
		}
		documents = append(documents, sum)
	}
	var document any = documents
	if len(documents) == 1 {
		document = documents[0]
	}
	err := a.emit(document, func() {
		for _, s := range searches {
			s.print(a)
		}
		if len(grids) > 0 {
			sum.print(a)
		}
	})
	for _, s := range searches {
		err = errors.Join(err, s.cancelled(a), s.failure())
	}
	err = errors.Join(err, sum.cancelled(a))
	if err == nil && sum.Failed > 0 {
		name := format.ShellWord(grids[0])
		return fmt.Errorf("%s failed; `%s` says why, `%s` marks them to be tried again", format.Count(sum.Failed, "run"), a.next("study status "+name), a.next("study retry "+name))
	}
	return err
}

// drive computes studies and shows the coordinator's progress.
func drive(ctx context.Context, a *app, lab *store.Lab, names []string, o coordinator.Options) (executed, error) {
	start := time.Now()
	defer a.watch(&o, "")()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if o.Scripts != "" {
		a.unhurried.Store(true) // a script may save a checkpoint when it is stopped
		o.Watch = (&sameFailures{names: names, stop: stop, watch: o.Watch}).event
	}
	s, err := coordinator.Execute(ctx, lab, names, o)
	if alike := (*sameFailureError)(nil); errors.As(context.Cause(ctx), &alike) {
		err = alike
	}
	return executed{names, s.Runs, s.Done, s.Failed, s.Cancelled, time.Since(start).Seconds()}, err
}

// cancelled is the error of studies that somebody cancelled meanwhile; nil for others.
func (e executed) cancelled(a *app) error {
	if !e.Cancelled {
		return nil
	}
	return fmt.Errorf("cancelled; continue with: %s", a.resume(e.Studies...))
}

func (e executed) print(a *app) {
	a.printf("%s: %d of %d runs done, %.0f s\n", strings.Join(e.Studies, ", "), e.Done, e.Runs, e.Seconds)
	if e.Cancelled {
		return // the error says how to go on
	}
	if len(e.Studies) == 1 && e.Done > 0 && !a.flags.Quiet {
		a.printf("a page: %s\n", a.next("study report "+format.ShellWord(e.Studies[0])))
	}
}
