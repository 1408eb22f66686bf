package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"collapse/internal/queue"
	"collapse/internal/recipe"
	"collapse/internal/safetext"
	"collapse/internal/store"
	"collapse/internal/study"
	"collapse/train"
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

// whereFlags say where a study's runs are computed.
type whereFlags struct {
	Workers   int           `help:"Runs side by side in this process; 0: none, workers elsewhere do everything; default: one per thread." default:"-1" placeholder:"N"`
	Listen    string        `help:"Let workers on other machines join at ADDR, such as 0.0.0.0:4333; :4333 is this machine only." placeholder:"ADDR" group:"Other machines:"`
	TokenFile string        `help:"File with the token that workers must bring (default: queue.token in the lab, made if need be)." type:"path" placeholder:"FILE" group:"Other machines:"`
	Cert      string        `help:"Certificate for TLS, with --listen." type:"existingfile" placeholder:"FILE" group:"Other machines:"`
	Key       string        `help:"The certificate's key." type:"existingfile" placeholder:"FILE" group:"Other machines:"`
	NATS      string        `name:"nats" help:"Use the JetStream of an existing NATS cluster." placeholder:"URL" group:"Other machines:"`
	CA        string        `name:"ca" help:"Certificates to trust, with --nats." type:"existingfile" placeholder:"FILE" group:"Other machines:"`
	Queue     string        `help:"Name of the queue on a shared cluster." default:"collapse" placeholder:"NAME" group:"Other machines:"`
	Blobs     string        `help:"Folder that all workers share, for checkpoints and features; default: the queue's own store." type:"path" placeholder:"DIR" group:"Other machines:"`
	Silence   time.Duration `help:"Give the runs of a worker that has not been heard of for so long to others." default:"15s" placeholder:"TIME" group:"Other machines:"`
	Rebuild   bool          `help:"First read every result that the queue still holds again, for a lab that lost some." group:"Other machines:"`
	besideFlags
}

// shortestSilence still tells a dead worker from a busy machine, on a good network.
const shortestSilence = 500 * time.Millisecond

func (w *whereFlags) options(a *app) (study.Options, error) {
	threads := a.flags.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	slots := w.Workers
	if slots < 0 {
		slots = threads
	}
	o := study.Options{Slots: slots, Threads: threads, Listen: w.Listen, CertFile: w.Cert, KeyFile: w.Key, Blobs: w.Blobs, Rebuild: w.Rebuild,
		Queue: queue.Options{Name: w.Queue, AckWait: w.Silence}}
	switch {
	case w.Silence < shortestSilence:
		return o, usagef("--silence is %v; wanted at least %v: workers are heard of every third of it", w.Silence, shortestSilence)
	case w.NATS != "" && w.Listen != "":
		return o, usagef("--listen opens the built-in queue and --nats uses another: leave one out")
	case (w.Cert == "") != (w.Key == ""):
		return o, usagef("--cert and --key go together")
	case slots == 0 && w.NATS == "" && w.Listen == "":
		return o, usagef("--workers 0 leaves all runs to workers elsewhere, who cannot join without --listen or --nats")
	}
	var err error
	if w.Listen != "" && w.Cert == "" && reaches(w.Listen, "127.0.0.1") {
		a.warnPlainText("the queue", w.Listen, queueWithTLS)
	}
	if w.Listen != "" {
		file := w.TokenFile
		if file == "" {
			file = filepath.Join(a.flags.Lab, "queue.token")
		}
		if o.Token, err = queue.TokenFile(file, true); err == nil {
			a.notef("token: %s\n", file)
		}
	}
	if w.NATS != "" {
		o.Remote = &queue.Remote{URL: w.NATS, CAFile: w.CA}
		if w.TokenFile != "" {
			o.Remote.Token, err = queue.TokenFile(w.TokenFile, false)
		}
	}
	return o, err
}

type studyRunCmd struct {
	Study  string   `arg:"" help:"A study's TOML file, a recipe (see collapse reproduce --list), or the name of a study of the lab." placeholder:"FILE|ID|NAME"`
	Scale  string   `enum:"quick,paper" default:"quick" help:"Of a recipe: quick or paper."`
	Set    []string `help:"Override a setting of all runs, or a list of the grid: --set data.noise=[0,0.2], or [[60,120],[80]] for a key that takes lists (repeatable)." placeholder:"SECTION.KEY=VALUE" sep:"none"`
	Seeds  int      `help:"Seeds 1 to N instead of the file's." placeholder:"N"`
	DryRun bool     `help:"Say what would be computed and what it would take, and stop."`
	whereFlags
}

func (c *studyRunCmd) Run(a *app) error {
	if recipe.Is(c.Study) {
		return (&reproduceCmd{ID: c.Study, Scale: c.Scale, Set: c.Set, Seeds: c.Seeds, DryRun: c.DryRun, whereFlags: c.whereFlags}).Run(a)
	}
	if !isFile(c.Study) {
		if len(c.Set) > 0 || c.Seeds > 0 || c.DryRun {
			return usagef("%s is no file: --set, --seeds and --dry-run need the study's file", c.Study)
		}
		return (&studyResumeCmd{Names: []string{c.Study}, whereFlags: c.whereFlags}).Run(a)
	}
	f, err := study.ReadFile(c.Study, c.Set, c.Seeds)
	var bad *study.FileError
	if errors.As(err, &bad) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	o, err := c.options(a)
	if err != nil {
		return err
	}
	if f.Search != nil {
		return c.search(a, f, o)
	}
	configs, _, err := f.Configs()
	if err != nil {
		return usageError{err}
	}
	items, err := f.Items(nil)
	if err != nil {
		return err
	}
	if c.DryRun {
		return dryRun(a, f.Name, configs, items, o)
	}
	lab, err := a.openLab()
	if err != nil {
		return err
	}
	defer lab.Close()
	defer c.beside(a)()
	if _, err := study.Save(lab, f.Name, f.Title, f.Source, items); err != nil {
		return err
	}
	return execute(a, lab, []string{f.Name}, o)
}

// isFile tells a file from the name of a study: a name has no '/' and does not end in .toml.
func isFile(arg string) bool {
	info, err := os.Stat(arg)
	return err == nil && !info.IsDir() || strings.HasSuffix(arg, ".toml") || strings.ContainsRune(arg, os.PathSeparator)
}

// foresee estimates what runs would take beside what the lab holds.
func foresee(a *app, configs []train.Config, items []study.Item, o study.Options) (study.Estimate, error) {
	lab, err := store.OpenReader(a.flags.Lab)
	if errors.Is(err, os.ErrNotExist) { // a first study
		lab, err = nil, nil
	}
	if err != nil {
		return study.Estimate{}, err
	}
	if lab != nil {
		defer lab.Close()
	}
	return study.Foresee(lab, configs, items, max(1, o.Slots), o.Threads)
}

// dryRun says what a study would compute and what that would take.
func dryRun(a *app, name string, configs []train.Config, items []study.Item, o study.Options) error {
	e, err := foresee(a, configs, items, o)
	if err != nil {
		return err
	}
	return a.emit(struct {
		Study string `json:"study"`
		study.Estimate
		Workers int `json:"workers"`
	}{name, e, o.Slots}, func() {
		a.printf("%s: %d runs, %d to compute", name, e.Runs, e.Missing)
		if e.Failed > 0 {
			a.printf(", %d failed before", e.Failed)
		}
		a.printf("\ntime     about %s with %d side by side here (%s)\nmemory   about %.0f MB\n", left(e.Time), max(1, o.Slots), e.Basis, float64(e.Memory)/(1<<20))
	})
}

type studyResumeCmd struct {
	Names []string `arg:"" name:"study" help:"Names of studies (see collapse study list)."`
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
	defer lab.Close()
	defer c.beside(a)()
	for _, name := range c.Names {
		if err := lab.OpenStudy(name); err != nil {
			return err
		}
	}
	grids, err := resumeSearches(a, lab, c.Names, o)
	if err != nil || len(grids) == 0 {
		return err
	}
	return execute(a, lab, grids, o)
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

// execute computes studies of the lab and says how that ended.
func execute(a *app, lab *store.Lab, names []string, o study.Options) error {
	start := time.Now()
	p := newEngineProgress(a.stderr)
	o.Watch, o.Logf = p.event, p.logf
	s, err := study.Execute(a.ctx, lab, names, o)
	p.close()
	if err != nil {
		return err
	}
	if err := sayExecuted(a, names, s, start); err != nil {
		return err
	}
	if s.Failed > 0 {
		return fmt.Errorf("%d runs failed; `collapse study status %s` says why, `collapse study retry` makes them ready to be tried again", s.Failed, names[0])
	}
	return nil
}

func sayExecuted(a *app, names []string, s study.Summary, start time.Time) error {
	return a.emit(executed{names, s.Runs, s.Done, s.Failed, s.Cancelled, time.Since(start).Seconds()}, func() {
		a.printf("%s: %d of %d runs done, %.0f s\n", strings.Join(names, ", "), s.Done, s.Runs, time.Since(start).Seconds())
		if s.Cancelled {
			a.printf("cancelled; go on with: collapse study resume %s\n", strings.Join(names, " "))
		}
	})
}

type studyListCmd struct{}

// studyRow is the JSON of one study.
type studyRow struct {
	Name      string               `json:"name"`
	Title     string               `json:"title,omitempty"`
	Status    string               `json:"status"` // open, done, cancelled
	Runs      int                  `json:"runs"`
	Counts    map[store.Status]int `json:"counts"`
	CreatedMS int64                `json:"created_ms"`
}

func studyRowOf(s store.Study) studyRow {
	status := "open"
	switch {
	case s.Open() == 0:
		status = "done"
	case s.Cancelled:
		status = "cancelled"
	}
	return studyRow{s.Name, s.Title, status, s.Runs, s.Counts, s.Created.UnixMilli()}
}

func (studyListCmd) Run(a *app) error {
	lab, err := store.OpenReader(a.flags.Lab)
	if err != nil {
		return err
	}
	defer lab.Close()
	list, err := lab.Studies()
	if err != nil {
		return err
	}
	rows := []studyRow{}
	for _, s := range list {
		rows = append(rows, studyRowOf(s))
	}
	return a.emit(rows, func() {
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "STUDY\tSTATUS\tRUNS\tDONE\tFAILED\tCREATED\tTITLE")
		for i, r := range rows {
			safetext.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\t%s\n", r.Name, r.Status, r.Runs, r.Counts[store.Done], r.Counts[store.Failed],
				list[i].Created.Local().Format("2006-01-02 15:04"), r.Title)
		}
		w.Flush()
	})
}
