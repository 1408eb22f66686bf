package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/internal/question"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/search"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/forecast"
	"collapse.example/collapse/internal/study/trials"
)

type studyReportCmd struct {
	writesFolder

	Name     string `arg:"" name:"study" complete:"studies" help:"Name of a study of the lab, or its file, whose claims, drawings and tables are then taken as they are now."`
	Out      string `help:"Where to write: a folder for the page; default: ./out/NAME." type:"path" placeholder:"DIR"`
	Open     bool   `help:"Show the page in the browser when it is ready."`
	RunPages bool   `help:"Also write each run's own page (1 to 5 MB each), and link to it."`
}

func (c *studyReportCmd) Run(a *app) error {
	a.onlyComputes()
	name, text, err := studyNamed(c.Name)
	if err != nil {
		return err
	}
	given := c.Name
	c.Name = name
	to, err := pageFolder(a.labOutputs(), c.dir())
	if err != nil {
		return err
	}
	lab, err := a.reader()
	if err != nil {
		return err
	}
	s, err := lab.Study(c.Name)
	if err != nil {
		return err
	}
	if text = asOfNow(s, text); given != name { // a file of one's own is mended first
		if _, err := askedOf(c.Name, text); err != nil {
			return err
		}
	}
	if err := noteOthers(a, lab, s, given); err != nil {
		return err
	}
	ended, err := lab.StudyRuns(c.Name, store.Done, store.Failed)
	if err != nil {
		return err
	}
	if len(ended) == 0 {
		onward, err := a.onward(lab, c.Name)
		return cmp.Or(err, fmt.Errorf("no run of study %s has ended; they are computed by: %s", c.Name, onward))
	}
	var hashes []string
	for _, r := range ended {
		hashes = append(hashes, r.Hash)
	}
	runs, err := judge.Load(lab, hashes...)
	if err != nil {
		return err
	}
	result, err := c.write(a, lab, s, text, runs, to)
	if err != nil {
		return err
	}
	own, _ := question.Parse(text) // the page says what cannot be read
	if given == name && len(own.Claims)+len(own.Drawings)+len(own.Tables) == 0 && !recipe.Trains(strings.SplitN(name, ".", 2)[0]) {
		a.notef("without claims, drawings and tables: its file had none when it last ran; collapse study report FILE takes them as they are now\n")
	}
	return a.made(result, func() { printReport(a, result, own.Claims) }, result.Index, c.Open)
}

// computeOf is what runs have cost; nil for those of scripts, of which nobody knows.
func computeOf(runs []judge.Run, searched bool, lab *store.Reader) *findings.Compute {
	if !slices.ContainsFunc(runs, func(r judge.Run) bool { return r.Kind != store.Script }) {
		return nil
	}
	spent := findings.Count(runs, searched, forecast.Runs(lab, ""))
	return &spent
}

// searchInWords says how a search chooses and stops its trials.
func searchInWords(f *study.File) string {
	d := f.Search
	stops := map[string]string{search.Full: "none is stopped early", search.Hyperband: "Hyperband stops them early", search.ASHA: "ASHA stops them early"}[d.Schedule]
	chosen := map[string]string{search.Random: "at random", search.Bayes: "by a Gaussian process"}[d.Sampler]
	return fmt.Sprintf("%s of at most %s%s are chosen %s, %s, and %s is to be %s.", format.Count(d.Trials, "trial"), format.Count(d.Epochs, "epoch"), inEach(f), chosen, stops,
		d.MetricName(), map[string]string{study.GoalMin: "low", study.GoalMax: "high"}[d.Goal])
}

// dir is where the page goes.
func (c *studyReportCmd) dir() string { return cmp.Or(c.Out, filepath.Join("out", c.Name)) }

// repeats are the commands that repeat a study with the text of its file, and its page.
func (c *studyReportCmd) repeats(a *app, text string) (commands []string) {
	if text != "" {
		run := []string{a.next("study run " + format.ShellWord(c.Name+".toml"))}
		for _, arg := range study.Arguments(text) {
			run = append(run, format.ShellWord(arg))
		}
		commands = append(commands, strings.Join(run, " "))
	}
	return append(commands, a.commandLine())
}

// write makes the page: for a search what it tried and found, otherwise memorization, dilation and every measure. text is that of the study's
// file, with its questions.
func (c *studyReportCmd) write(a *app, lab *store.Reader, s store.Study, text string, runs []judge.Run, to *outfile.Folder) (page.Result, error) {
	title := cmp.Or(s.Title, c.Name)
	commands := c.repeats(a, text)
	notes := []string{fmt.Sprintf("%d of the study's %d runs have ended.", len(runs), s.Runs)}
	f, err := study.SearchOf(s)
	if err != nil {
		return page.Result{}, err
	}
	spent := computeOf(runs, f != nil, lab)
	if c.RunPages {
		notePages(a, runs)
	}
	questions, err := question.Parse(text)
	if err != nil { // of another version of the program, or of a stranger
		notes = append(notes, "The claims and drawings of the study's file cannot be read: "+err.Error())
		questions = question.Set{}
	}
	for _, sentence := range judge.WithoutEffect(runs) {
		notes = append(notes, "Watch: "+sentence)
		a.notef("watch: %s\n", sentence)
	}
	if f == nil {
		return writeStudy(to, findings.Study{ID: c.Name, Title: title, Runs: runs, Asks: questions, File: text, Commands: commands, Notes: notes, Generated: time.Now(), Compute: spent, RunPages: c.RunPages})
	}
	made := findings.Recipe{ID: c.Name, Title: cmp.Or(s.Title, "A search of settings"), Study: true, Runs: runs, File: text, Commands: commands, Notes: notes, Generated: time.Now(), Compute: spent, RunPages: c.RunPages,
		Claims: questions.Claims, Drawings: questions.Drawings, Tables: questions.Tables}
	if made.Searches, err = trials.Searches(lab, f); err != nil {
		return page.Result{}, err
	}
	for _, search := range made.Searches {
		made.Caption += figure.FoundBySearch(search) + " "
	}
	made.Caption += searchInWords(f)
	found, err := made.Judge()
	if err != nil {
		return page.Result{}, err
	}
	result, err := page.WriteRecipe(to, found)
	result.Left = found.Notes[min(len(notes), len(found.Notes)):]
	for _, search := range made.Searches {
		result.Facts = append(result.Facts, figure.FoundBySearch(search))
	}
	return result, err
}
