package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/safetext"
	trainer "collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/trials"
)

type runsCmd struct {
	List  runsListCmd  `cmd:"" help:"Every run, newest first."`
	Diff  runsDiffCmd  `cmd:"" help:"Two runs: the settings, and the lines of a script's code, in which they differ."`
	Show  runsShowCmd  `cmd:"" help:"One run: configuration, state and last values."`
	Add   runsAddCmd   `cmd:"" help:"Store numbers of your own model, epoch by epoch, as a run."`
	Check runsCheckCmd `cmd:"" help:"Find runs that lack epochs or files, and reopen them."`
	Rm    runsRmCmd    `cmd:"" help:"Delete runs with their values and files."`
	GC    runsGCCmd    `cmd:"" name:"gc" help:"Delete run directories that the lab does not know."`
}

// runRow is a run in JSON.
type runRow struct {
	Run      string          `json:"run"`
	Kind     store.Kind      `json:"kind"`
	Status   store.Status    `json:"status"`
	Error    string          `json:"error,omitempty"`
	Label    string          `json:"label,omitempty"`
	Tags     []string        `json:"tags,omitempty"`
	Epoch    *int64          `json:"last_epoch,omitempty"`
	Created  time.Time       `json:"created"`
	Finished *time.Time      `json:"finished,omitempty"`
	Program  store.Program   `json:"program"`
	Config   json.RawMessage `json:"config"`
}

func rowOf(r store.Run) runRow {
	row := runRow{Run: r.Hash, Kind: r.Kind, Status: r.Status, Error: r.Error, Label: r.Label, Tags: r.Tags,
		Created: r.Created, Program: r.Program, Config: r.Config}
	if r.HasEpochs {
		row.Epoch = &r.LastEpoch
	}
	if !r.Finished.IsZero() {
		row.Finished = &r.Finished
	}
	return row
}

func epochOf(r store.Run) string {
	if !r.HasEpochs {
		return "–"
	}
	return fmt.Sprint(r.LastEpoch)
}

type runsShowCmd struct {
	Hash string `arg:"" name:"run" complete:"runs" help:"Hash of the run, or the start of it."`
}

func (c runsShowCmd) Run(a *app, r *store.Reader) error {
	run, err := r.Find(c.Hash)
	if err != nil {
		return err
	}
	values, err := r.Values(run.Hash)
	if err != nil {
		return err
	}
	last, beside := lastValues(values), ""
	if one, err := judge.NewRun(run, values); err == nil { // the lab may be of another version
		beside = one.Theory()
	}
	later, err := r.MeasuredLater(run.Hash)
	if err != nil {
		return err
	}
	shown := shownRun{runRow: rowOf(run), Dir: r.RunDir(run.Hash), Theory: beside, Values: last}
	of, err := r.Memberships([]string{run.Hash})
	if err != nil {
		return err
	}
	if m := of[run.Hash]; m.Study != "" {
		shown.Study = strings.TrimSuffix(m.Study+": "+m.Note, ": ")
	}
	if run.Kind == store.Script {
		shown.Command = trainer.Command(shown.Dir)
		shown.Output, shown.Log = trainer.Output(shown.Dir, outputLines)
	}
	for _, m := range later {
		shown.Later = append(shown.Later, laterRow(m))
	}
	return a.emit(shown, func() { printRun(a, run, shown) })
}

// outputLines is how much of a script's output runs show shows.
const outputLines = 20

// shownRun is what runs show prints.
type shownRun struct {
	runRow
	Dir     string      `json:"dir"`
	Theory  string      `json:"theory,omitempty"`         // the run beside the optimum over free features
	Later   []laterRow  `json:"measured_later,omitempty"` // of what collapse study measure added
	Study   string      `json:"study,omitempty"`          // the newest that has it, and what sets it apart there
	Command string      `json:"command,omitempty"`        // how a script was started
	Output  string      `json:"output,omitempty"`         // the last lines that a script wrote
	Log     string      `json:"log,omitempty"`            // the file with all that it wrote, if that is more
	Values  []lastValue `json:"values"`
}

// laterRow says where values come from that were measured after the run.
type laterRow struct {
	Epoch   int64     `json:"epoch"`
	Values  int       `json:"values"`
	Made    time.Time `json:"made"`
	Version string    `json:"version"`
	Kernel  string    `json:"kernel"`
	Source  string    `json:"source"`
}

// lastValue is the newest value of one series.
type lastValue struct {
	Series  string   `json:"series"`
	Split   string   `json:"split"`
	Layer   string   `json:"layer,omitempty"`
	Measure string   `json:"measure"`
	Step    int64    `json:"step"`
	Value   *float64 `json:"value"`
	Missing string   `json:"missing,omitempty"`
}

// lastValues keeps the newest value of each series; values come ordered by key, then step.
func lastValues(values []store.Value) []lastValue {
	var out []lastValue
	for i, v := range values {
		if i+1 < len(values) && values[i+1].Key == v.Key {
			continue
		}
		last := lastValue{v.Series, v.Split, v.Layer, v.Measure, v.Step, nil, v.Missing}
		if v.Missing == "" {
			last.Value = &v.Value
		}
		out = append(out, last)
	}
	return out
}

func printRun(a *app, run store.Run, shown shownRun) {
	a.printf("run      %s\nkind     %s\nstatus   %s\nepoch    %s\ncreated  %s\n", a.hash(run.Hash), run.Kind, run.Status, epochOf(run), run.Created.Local().Format(time.DateTime))
	if p := run.Program; p.Version != "" { // of a run that was begun
		a.printf("program  collapse %s, kernel %s, %s/%s, %s\n", p.Version, p.Kernel, p.GOOS, p.GOARCH, p.CPU)
	}
	a.printf("files    %s\n", shown.Dir)
	if run.Error != "" {
		a.print("error    " + safetext.Lines(run.Error) + "\n")
	}
	if shown.Study != "" {
		a.printf("study    %s\n", shown.Study)
	}
	if shown.Command != "" {
		a.print("command  " + safetext.Line(shown.Command) + "\n") // not folded, to be copied
	}
	if e, h := lengthsOf(run); e != h {
		a.printf("length   %d epochs, with schedules for %d\n", e, h)
	}
	a.printf("config   %s\n", run.Config)
	if shown.Theory != "" {
		a.printf("theory   %s\n", shown.Theory)
	}
	for _, m := range shown.Later {
		a.printf("later    %s of epoch %d, measured of %s on %s by collapse %s, kernel %s\n", format.Count(m.Values, "value"), m.Epoch, m.Source,
			m.Made.Local().Format(time.DateTime), m.Version, m.Kernel)
	}
	if shown.Output != "" && !strings.Contains(run.Error, strings.TrimSpace(shown.Output)) {
		word := "output"
		for line := range strings.SplitSeq(shown.Output, "\n") {
			a.printf("%-8s %s\n", word, line)
			word = ""
		}
	}
	if shown.Log != "" {
		a.printf("log      all that it wrote: %s\n", shown.Log)
	}
	a.printf("\n")
	printValues(a, inWords(shown.Values))
}

// inWords names what a script's run has besides its values.
func inWords(values []lastValue) []lastValue {
	out := slices.Clone(values)
	for i, v := range out {
		if v.Series == trainer.ReportKey.Series && v.Measure == trainer.ReportKey.Measure {
			out[i].Measure = "seconds since the report before"
		}
	}
	return out
}

// lengthsOf are the epochs of a script's run, and those that its schedules, and flags, are made for; 0 and 0 for others.
func lengthsOf(run store.Run) (epochs, horizon int) {
	var config struct{ Run struct{ Epochs, Horizon int } }
	if run.Kind != store.Script || json.Unmarshal(run.Config, &config) != nil {
		return 0, 0
	}
	return config.Run.Epochs, config.Run.Horizon
}

type runsRmCmd struct {
	Runs []string `arg:"" complete:"runs" help:"Hashes of runs, or the starts of them."`
}

func (c runsRmCmd) Run(a *app, lab *store.Lab) error {
	hashes, err := findAll(lab.Reader, c.Runs) // before removing any, so that a misspelt hash removes nothing
	if err != nil {
		return err
	}
	missed, err := missedBy(lab.Reader, hashes)
	if err != nil {
		return err
	}
	for _, hash := range hashes {
		if err := lab.Remove(hash); err != nil {
			return err
		}
	}
	return a.emit(map[string][]string{"removed": hashes}, func() {
		a.printf("removed %s\n", format.Count(len(hashes), "run"))
		for _, what := range missed {
			a.printf("%s\n", what)
		}
	})
}

// missedBy says which studies lack runs once these are removed, and of which searches one was the best.
func missedBy(lab *store.Reader, hashes []string) (words []string, err error) {
	studies, err := lab.Studies()
	if err != nil {
		return nil, err
	}
	removed := map[string]bool{}
	for _, hash := range hashes {
		removed[hash] = true
	}
	for _, s := range studies {
		runs, err := lab.StudyRuns(s.Name)
		if err != nil {
			return nil, err
		}
		runs = slices.DeleteFunc(runs, func(r store.StudyRun) bool { return !removed[r.Hash] })
		if len(runs) == 0 {
			continue
		}
		found, _ := trials.SearchesOf(lab, s.Name) // what a source says that cannot be read is no reason to keep runs
		best := ""
		for _, f := range found {
			if f.Best >= 0 && removed[f.Trials[f.Best].Run] {
				best += fmt.Sprintf(", with trial %d, which was its best", f.Trials[f.Best].Number)
			}
		}
		words = append(words, fmt.Sprintf("%s now lacks %s%s: to run it again computes what it lacks", s.Name, format.Count(len(runs), "run"), best))
	}
	return words, nil
}

type runsGCCmd struct{}

func (runsGCCmd) Run(a *app, lab *store.Lab) error {
	names, err := lab.GC()
	if err != nil {
		return err
	}
	return a.emit(map[string][]string{"removed": names}, func() {
		a.printf("removed %d directories\n", len(names))
		for _, n := range names {
			a.printf("  %s\n", n)
		}
	})
}
