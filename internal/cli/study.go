package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"collapse/internal/recipe"
	"collapse/internal/store"
	"collapse/internal/study"
	"collapse/internal/study/engine"
	"collapse/internal/study/forecast"
	"collapse/internal/train"
)

type studyCmd struct {
	Run    studyRunCmd    `cmd:"" help:"Compute the runs of a study that the lab does not hold."`
	Status studyStatusCmd `cmd:"" help:"How far a study is, which workers wait and why, and what was set aside."`
	Resume studyResumeCmd `cmd:"" help:"Go on with a study of the lab, also one that was cancelled."`
	Cancel studyCancelCmd `cmd:"" help:"Stop a study, wherever it is computed. What is done stays."`
	Retry  studyRetryCmd  `cmd:"" help:"Make the failed runs of a study ready to be tried again; then resume."`
	List   studyListCmd   `cmd:"" help:"The studies of the lab."`
	Report studyReportCmd `cmd:"" help:"A study's page."`
	Export studyExportCmd `cmd:"" help:"A study as one tidy table, a line for each run, epoch and measure, or as event files of TensorBoard."`
}

type studyRunCmd struct {
	Study  string   `arg:"" complete:"recipes,studies" help:"A study's TOML file, a recipe (see collapse reproduce --list), or the name of a study of the lab." placeholder:"FILE|ID|NAME"`
	Scale  string   `enum:"quick,standard,paper" default:"quick" help:"Scale: of a recipe; quick takes minutes on two cores, standard decides most claims there, paper has the paper's own sizes." placeholder:"NAME"`
	Set    []string `complete:"settings" help:"Override a setting: of all runs, or a list of the grid, as in --set data.noise=[0,0.2], or [[60,120],[80]] for a setting that takes lists. May be given again." placeholder:"SECTION.KEY=VALUE" sep:"none"`
	Seeds  int      `help:"Number of seeds: 1 to N; default: those of the file or recipe." placeholder:"N"`
	DryRun bool     `help:"Say what would be computed and what it would take, and stop."`
	whereFlags
}

func (c *studyRunCmd) effects() []effect {
	return append([]effect{
		{"scale", recipe.Trains(c.Study), "goes with a recipe that trains networks; a study's file says its own sizes"},
		{"set seeds dry-run", recipe.Trains(c.Study) || isFile(c.Study), "needs a study's file or a recipe; the runs of a study of the lab are settled"},
		{dryRunHas, !c.DryRun, "is about computing, and --dry-run computes nothing"},
	}, c.whereFlags.effects()...)
}

// dryRunHas are the flags of runs that are computed, which a dry run does without.
const dryRunHas = "listen token-file cert key nats ca queue blobs silence rebuild serve serve-listen"

func (c *studyRunCmd) Run(a *app) error {
	if recipe.Trains(c.Study) {
		return (&reproduceCmd{ID: c.Study, Scale: c.Scale, Set: c.Set, Seeds: c.Seeds, DryRun: c.DryRun, whereFlags: c.whereFlags}).Run(a)
	}
	if !isFile(c.Study) {
		return (&studyResumeCmd{Names: []string{c.Study}, whereFlags: c.whereFlags}).Run(a)
	}
	f, err := study.ReadFile(c.Study, c.Set, c.Seeds)
	if err != nil {
		return unnamed(err)
	}
	o, err := c.options(a)
	if err != nil {
		return err
	}
	if f.Search != nil {
		return c.search(a, f, o)
	}
	return c.grid(a, f, o)
}

// grid computes the runs of a file without a search.
func (c *studyRunCmd) grid(a *app, f *study.File, o engine.Options) error {
	configs, _, err := f.Configs()
	if err == nil {
		err = f.Idle(configs)
	}
	if err != nil {
		return usageError{err}
	}
	items, err := f.Items(nil)
	if err != nil {
		return err
	}
	if c.DryRun {
		return dryRun(a, f.Name, configs, items, nil, o)
	}
	lab, err := a.openLab()
	if err != nil {
		return err
	}
	defer c.beside(a)()
	if _, err := study.Save(lab, f.Name, f.Title, f.Source, items); err != nil {
		return err
	}
	return executeBeside(a, lab, nil, []string{f.Name}, o)
}

// isFile tells a file from the name of a study: a name has no '/' and does not end in .toml.
func isFile(arg string) bool {
	info, err := os.Stat(arg)
	return err == nil && !info.IsDir() || strings.HasSuffix(arg, ".toml") || strings.ContainsRune(arg, os.PathSeparator)
}

// foresee estimates what runs would take beside what the lab holds.
func foresee(a *app, configs []train.Config, items []study.Item, o engine.Options) (forecast.Estimate, error) {
	lab, err := a.reader()
	if err != nil && !errors.Is(err, os.ErrNotExist) { // without a lab it is a first study
		return forecast.Estimate{}, err
	}
	return forecast.Study(lab, configs, items, max(1, o.Slots), o.Threads)
}

// dryRun says what a study would compute and what that would take; first is the search that its settings follow from, if it has still to run.
func dryRun(a *app, name string, configs []train.Config, items []study.Item, first *study.File, o engine.Options) error {
	e, err := foresee(a, configs, items, o)
	if err != nil {
		return err
	}
	foreseen := struct {
		Study string `json:"study"`
		forecast.Estimate
		Workers int    `json:"workers"`
		First   string `json:"first,omitempty"` // a study that has to end before
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
			a.printf("\n%s", searchFirst(first))
		}
		a.printf("\ntime     about %s with %d side by side here (%s)\nmemory   about %.0f MB\n", left(e.Time), max(1, o.Slots), e.Basis, float64(e.Memory)/(1<<20))
	})
}

type studyResumeCmd struct {
	Names []string `arg:"" name:"study" complete:"studies" help:"Names of studies (see collapse study list)."`
	whereFlags
}

func (c *studyResumeCmd) Run(a *app) error {
	o, err := c.options(a)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(a.flags.Lab, "lab.sqlite")); err != nil {
		return fmt.Errorf("there is no lab in %s, so no study %s; is %s the name of a file, or --lab wrong?", a.flags.Lab, c.Names[0], c.Names[0])
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

// executeBeside computes studies of the lab that are grids, if there are any, and says how that and the searches before it ended: in
// one document, a list if there are several.
func executeBeside(a *app, lab *store.Lab, searches []searched, grids []string, o engine.Options) error {
	var documents []any
	for _, s := range searches {
		documents = append(documents, s)
	}
	var sum executed
	if len(grids) > 0 {
		var err error
		if sum, err = drive(a, lab, grids, o); err != nil {
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
	if err == nil && sum.Failed > 0 {
		return fmt.Errorf("%d runs failed; `collapse study status %s` says why, `collapse study retry` makes them ready to be tried again", sum.Failed, grids[0])
	}
	return err
}

// drive computes studies with the engine's view of their progress.
func drive(a *app, lab *store.Lab, names []string, o engine.Options) (executed, error) {
	start := time.Now()
	defer a.watch(&o)()
	s, err := engine.Execute(a.ctx, lab, names, o)
	return executed{names, s.Runs, s.Done, s.Failed, s.Cancelled, time.Since(start).Seconds()}, err
}

func (e executed) print(a *app) {
	a.printf("%s: %d of %d runs done, %.0f s\n", strings.Join(e.Studies, ", "), e.Done, e.Runs, e.Seconds)
	if e.Cancelled {
		a.printf("cancelled; go on with: collapse study resume %s\n", strings.Join(e.Studies, " "))
	}
}
