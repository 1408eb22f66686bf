package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/search"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/study/trials"
)

// search runs a study file with a table [search].
func (c *studyRunCmd) search(a *app, f *study.File, o coordinator.Options) error {
	if _, err := checkedConfigs(f); err != nil {
		return err
	}
	for _, p := range f.Places() {
		if n := p.Trials(); n < f.Search.Trials {
			a.notef("%s, not %d: [search.space] has no more different settings%s\n", format.Count(n, "trial"), f.Search.Trials, map[bool]string{true: " with " + p.Where}[p.Where != ""])
		}
	}
	if rungs := f.Search.Rungs(); f.Search.Schedule != search.Full {
		var epochs []string
		for _, n := range rungs {
			epochs = append(epochs, fmt.Sprint(n))
		}
		at := "rungs at epochs " + format.List(epochs)
		if len(rungs) == 1 {
			at = "one rung, so that no trial is stopped early"
		}
		a.notef("%s: %s (%d divided by powers of eta = %d, not below min_epochs = %d)\n", f.Search.Schedule, at, f.Search.Epochs, f.Search.Eta, f.Search.MinEpochs)
	}
	if c.DryRun {
		return dryRunOfSearch(a, f)
	}
	lab, err := a.openLab()
	if err != nil {
		return err
	}
	defer c.beside(a)()
	if err := noteLoaded(a, lab.Reader, f); err != nil {
		return err
	}
	done, err := runSearch(a, lab, f, o)
	if err != nil {
		return err
	}
	return errors.Join(a.emit(done, func() { done.print(a) }), done.cancelled(a), done.failure())
}

// dryRunOfSearch prints what a search would do, given what the lab has.
func dryRunOfSearch(a *app, f *study.File) error {
	lab, err := a.reader()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	told := map[string]any{"study": f.Name, "trials": f.Search.Trials, "epochs": f.Search.Epochs, "counted": 0}
	counted, next, displaced := 0, 0, ""
	if err == nil {
		if counted, next, displaced, err = trials.Foresee(lab, f); err != nil {
			return err
		}
		if err := noteLoaded(a, lab, f); err != nil {
			return err
		}
		told["counted"], told["next"] = counted, next
	}
	return a.emit(told, func() {
		a.printf("%s: a search of %s of at most %d epochs%s (%s, %s); the cost of a trial depends on how far it gets\n",
			f.Name, format.Count(f.Places()[0].Trials(), "trial"), f.Search.Epochs, inEach(f), f.Search.Sampler, f.Search.Schedule)
		if counted > 0 {
			a.printf("%s of the lab count; %s would be next\n", format.Count(counted, "finished run"), format.Count(next, "run"))
		}
		if displaced != "" {
			a.printf("%s\n", displaced)
		}
	})
}

// inEach says that there are several searches.
func inEach(f *study.File) string {
	if len(f.Places()) > 1 {
		return " in each combination of the grid"
	}
	return ""
}

// failure is the error of a search of which no run is done, or whose finished trials have no best.
func (s searched) failure() error {
	if s.Cancelled {
		return nil
	}
	for _, row := range s.Searches {
		if why := row.noBest(); why != "" && row.Best == 0 {
			return errors.New(why)
		}
	}
	if s.Done > 0 || s.Failed == 0 {
		return nil
	}
	return fmt.Errorf("all %d runs failed; `collapse study status %s` says why, `collapse study retry %s` marks them to be tried again", s.Failed, s.Studies[0], s.Studies[0])
}

// searched is the JSON document of a search.
type searched struct {
	executed
	Searches []searchRow `json:"searches"`
}

// resumeSearches continues those of the studies that are searches. It returns what they found, and the other studies.
func resumeSearches(a *app, lab *store.Lab, names []string, o coordinator.Options) (done []searched, grids []string, err error) {
	for _, name := range names {
		s, err := lab.Study(name)
		if err != nil {
			return nil, nil, err
		}
		f, err := study.SearchOf(s)
		if err != nil {
			return nil, nil, err
		}
		if f == nil {
			grids = append(grids, name)
			continue
		}
		found, err := runSearch(a, lab, f, o)
		if err != nil {
			return nil, nil, err
		}
		done = append(done, found)
	}
	return done, grids, nil
}

// runSearch computes a search and returns its result.
func runSearch(a *app, lab *store.Lab, f *study.File, o coordinator.Options) (searched, error) {
	start := time.Now()
	sum, err := driveSearch(a.ctx, a, lab, f, o)
	if err != nil {
		return searched{}, err
	}
	s, err := lab.Study(f.Name)
	if err != nil {
		return searched{}, err
	}
	rows, err := searchRows(lab.Reader, s)
	return searched{executed{[]string{f.Name}, sum.Runs, sum.Done, sum.Failed, sum.Cancelled, time.Since(start).Seconds()}, rows}, err
}

func (s searched) print(a *app) {
	name := s.Studies[0]
	printSearches(a, s.Searches)
	a.printf("\n%s: %d runs done, %d failed, %.0f s\n", name, s.Done, s.Failed, s.Seconds)
	if s.Failed > 0 {
		a.notef("%s failed: %s says why, %s marks them to be tried again\n", format.Count(s.Failed, "run"), a.next("study status "+format.ShellWord(name)), a.next("study retry "+format.ShellWord(name)))
	}
}

// driveSearch computes a search and shows the coordinator's progress.
func driveSearch(ctx context.Context, a *app, lab *store.Lab, f *study.File, o coordinator.Options) (coordinator.Summary, error) {
	defer a.watch(&o, " in this round")()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if o.Scripts != "" {
		a.unhurried.Store(true) // a script may save a checkpoint when it is stopped
		o.Watch = (&sameFailures{names: []string{f.Name}, stop: stop, watch: o.Watch, more: true}).event
	}
	s, err := trials.Run(ctx, lab, f, o)
	if alike := (*sameFailureError)(nil); errors.As(context.Cause(ctx), &alike) {
		err = alike
	}
	return s, err
}
