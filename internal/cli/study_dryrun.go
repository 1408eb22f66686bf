package cli

import (
	"errors"
	"os"
	"slices"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/parity"
	"collapse.example/collapse/internal/reproduce"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
	"collapse.example/collapse/internal/study/forecast"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/parallel"
)

// dryRunHas are flags for computing runs, which a dry run does not use.
const dryRunHas = "listen token-file cert key nats ca queue blobs silence rebuild serve serve-listen slots-per-gpu"

// dryRunOfScript prints what a study of a script would compute. Its cost depends on the script.
func dryRunOfScript(a *app, f *study.File, items []study.Item) error {
	failed, missing, displaced := 0, len(items), ""
	lab, err := a.reader()
	if err == nil {
		if err := study.AsItIs(lab, items); err != nil {
			return err
		}
		going := slices.Clone(items)
		longer, wrong := study.GoOn(lab, going)
		if wrong != nil {
			return wrong
		}
		noteLonger(a, longer)
		var before []store.StudyRun
		if err := noteLoaded(a, lab, f); err != nil {
			return err
		}
		if before, err = lab.StudyRuns(f.Name); err == nil {
			displaced = study.Displaced(f.Name, before, going, true)
			_, failed, missing, err = study.Counts(lab, items)
		}
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return a.emit(map[string]any{"study": f.Name, "runs": len(items), "missing": missing, "failed": failed, "displaced": displaced}, func() {
		a.printf("%s: %d runs of a script, %d to compute; their cost depends on the script\n", f.Name, len(items), missing)
		if failed > 0 {
			a.printf("%s before: %s marks them to be tried again\n", format.Count(failed, "run")+" failed", a.next("study retry "+format.ShellWord(f.Name)))
		}
		if displaced != "" {
			a.printf("%s\n", displaced)
		}
	})
}

// foresee estimates the cost of runs that the lab lacks. o gets the slots that they would be computed with.
func foresee(a *app, configs []train.Config, items []study.Item, o *coordinator.Options) (forecast.Estimate, error) {
	lab, err := a.reader()
	if err != nil && !errors.Is(err, os.ErrNotExist) { // without a lab this is the first study
		return forecast.Estimate{}, err
	}
	dir, err := os.MkdirTemp("", "collapse-timed-")
	if err != nil {
		return forecast.Estimate{}, err
	}
	defer os.RemoveAll(dir)
	members := plannedMembers(a, lab, items, o)
	k := &parity.Checker{Engines: o.Engines, Dir: dir, Members: members}
	there := forecast.Elsewhere{Devices: len(o.Engines.Devices), Members: members, Rate: func(c train.Config) (float64, error) {
		if k.Team == nil {
			k.Team = parallel.NewTeam(o.Threads)
		}
		return k.Like(a.ctx, c)
	}}
	defer func() { k.Team.Close() }()
	return forecast.Study(lab, configs, items, max(1, o.Slots), o.Threads, there)
}

// plannedMembers is how many of the runs that the lab lacks will share a batch; 1: none. o gets the slots for that.
func plannedMembers(a *app, lab *store.Reader, items []study.Item, o *coordinator.Options) int {
	var batches study.Batches
	for _, it := range items {
		if lab != nil {
			if run, err := lab.Run(it.Hash); err == nil && run.Status == store.Done {
				continue
			}
		}
		batches.Add(it.Spec.Kind, it.Payload)
	}
	if o.Members == 1 || batches.None() {
		return 1
	}
	on, err := study.DevicesOf(a.ctx, o.Engines)
	if err != nil { // the first run that is timed says why
		return 1
	}
	members, slots := batches.Plan(on, o.Members)
	if o.Wider {
		o.Slots = max(o.Slots, slots)
	}
	return min(members, max(1, o.Slots))
}

// dryRun prints what a study would compute and its cost; first is the search that gives its settings, if that has still to run.
func dryRun(a *app, name string, configs []train.Config, items []study.Item, first *study.File, o coordinator.Options) error {
	e, err := foresee(a, configs, items, &o)
	if err != nil {
		return err
	}
	foreseen := struct {
		Study string `json:"study"`
		forecast.Estimate
		Workers int    `json:"workers"`
		First   string `json:"first,omitempty"` // a study that has to end first
	}{Study: name, Estimate: e, Workers: o.Slots}
	if first != nil {
		foreseen.First = first.Name
	}
	return a.emit(foreseen, func() {
		a.printf("%s: %d runs, %d to compute", name, e.Runs, e.Missing)
		if e.Failed > 0 {
			a.printf(", %d failed before", e.Failed)
		}
		if first != nil {
			a.printf("\n%s", reproduce.SearchFirst(first))
		}
		a.printf("\ntime     about %s with %d side by side here (%s)\nmemory   about %.0f MB\n", left(e.Time), max(1, o.Slots), e.Basis, float64(e.Memory)/(1<<20))
	})
}
