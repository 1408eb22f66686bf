package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
)

type studyStatusCmd struct {
	Name string `arg:"" optional:"" name:"study" complete:"studies" help:"Name of the study; may be left out where the lab has one."`
}

// studyRunRow is the JSON of a run of a study.
type studyRunRow struct {
	Run      string       `json:"run"`
	Note     string       `json:"note"`
	Status   store.Status `json:"status"`
	Epoch    int64        `json:"epoch"`
	Error    string       `json:"error,omitempty"`
	Finished int64        `json:"finished_ms,omitempty"`
}

func studyRunRows(runs []store.StudyRun) []studyRunRow {
	rows := []studyRunRow{}
	for _, r := range runs {
		row := studyRunRow{Run: r.Hash, Note: r.Note, Status: r.Status, Epoch: r.Epoch, Error: r.Error}
		if !r.Finished.IsZero() {
			row.Finished = r.Finished.UnixMilli()
		}
		rows = append(rows, row)
	}
	return rows
}

// onlyStudy is the name of the lab's study, if it has one.
func onlyStudy(lab *store.Reader) (string, error) {
	studies, err := lab.Studies()
	switch {
	case err != nil:
		return "", err
	case len(studies) == 0:
		return "", usageError{errors.New("this lab has no study; `collapse study run FILE` makes one")}
	case len(studies) > 1:
		return "", usageError{fmt.Errorf("which of %d studies? `collapse study list` shows them; the newest is %s", len(studies), studies[0].Name)}
	}
	return studies[0].Name, nil
}

// shown bounds the runs that a status lists.
const shown = 10

func (c *studyStatusCmd) Run(a *app, lab *store.Reader) error {
	if c.Name == "" {
		var err error
		if c.Name, err = onlyStudy(lab); err != nil {
			return err
		}
	}
	s, err := lab.Study(c.Name)
	if err != nil {
		return err
	}
	health, err := coordinator.ReadHealth(a.flags.Lab)
	if err != nil {
		a.notef("%v\n", err) // the runs are still worth showing
	}
	if err := givenBack(lab, &s, health.Idle); err != nil {
		return err
	}
	running, err1 := lab.RecentOfStudy(c.Name, store.Running, shown)
	failed, err2 := lab.RecentOfStudy(c.Name, store.Failed, shown)
	last, err3 := lab.RecentOfStudy(c.Name, store.Done, shown)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	running = slices.DeleteFunc(running, func(r store.StudyRun) bool { // or it ended between the two looks
		return slices.Contains(health.Idle, r.Hash) || slices.ContainsFunc(slices.Concat(failed, last), func(other store.StudyRun) bool { return other.Hash == r.Hash })
	})
	searches, err := searchRows(lab, s)
	if err != nil {
		return err
	}
	row, err := studyRowOf(lab, s)
	if err != nil {
		return err
	}
	idle, err := noEffect(lab, c.Name)
	if err != nil {
		return err
	}
	still, err := whyStill(a, lab, s, row)
	if err != nil {
		return err
	}
	return a.emit(struct {
		studyRow
		coordinator.QueueHealth
		Searches []searchRow   `json:"searches,omitempty"`
		NoEffect []string      `json:"no_effect,omitempty"` // of a script: settings and seeds that changed nothing
		Running  []studyRunRow `json:"running"`             // at most 10 of each
		Failed   []studyRunRow `json:"failed"`
		Last     []studyRunRow `json:"last"`
	}{row, health.QueueHealth, searches, idle, studyRunRows(running), studyRunRows(failed), studyRunRows(last)}, func() {
		begun := ""
		if n := s.Counts[store.Interrupted]; n > 0 {
			begun = fmt.Sprintf(" (%d begun)", n)
		}
		a.printf("%s: %s; %d runs: %d done, %d running, %d waiting%s, %d failed\n", s.Name, row.word(), s.Runs, s.Counts[store.Done],
			s.Counts[store.Running], s.Counts[store.Pending]+s.Counts[store.Interrupted], begun, s.Counts[store.Failed])
		if still != "" {
			a.printf("%s\n", still)
		}
		if row.Removed > 0 {
			a.printf("%s for which its file asks %s removed: %s computes what it lacks\n", format.Count(row.Removed, "run"), map[bool]string{true: "was", false: "were"}[row.Removed == 1], a.next("study run FILE"))
		}
		printHealth(a, health)
		printSearches(a, searches)
		for _, sentence := range idle {
			a.printf("%s\n", sentence)
		}
		printStudyRuns(a, lab, "running", running)
		printStudyRuns(a, lab, "failed", failed)
		printStudyRuns(a, lab, "done last", last)
		if s.Counts[store.Failed] > 0 {
			a.printf("\nwhat a failed run wrote last: %s; to try them again: %s, then compute the study again\n", a.next("runs show RUN"), a.next("study retry "+s.Name))
		}
	})
}

// givenBack counts runs that their workers have given back among those that wait.
func givenBack(lab *store.Reader, s *store.Study, idle []string) error {
	if len(idle) == 0 {
		return nil
	}
	runs, err := lab.StudyRuns(s.Name, store.Running)
	for _, r := range runs {
		if slices.Contains(idle, r.Hash) && s.Counts[store.Running] > 0 {
			s.Counts[store.Running]--
			s.Counts[store.Interrupted]++
		}
	}
	return err
}

// whyStill says what a study waits for of which no run is computed, though some are left; "" otherwise.
func whyStill(a *app, lab *store.Reader, s store.Study, row studyRow) (string, error) {
	if row.Status != "open" || s.Counts[store.Running] > 0 || s.Cancelled {
		return "", nil
	}
	all, err := lab.Studies()
	if err != nil {
		return "", err
	}
	for _, other := range all {
		if n := other.Counts[store.Running]; n > 0 && other.Name != s.Name {
			return fmt.Sprintf("none of its runs is computed now: the lab computes %s first (%d of %d runs done)", other.Name, other.Counts[store.Done], other.Runs), nil
		}
	}
	onward, err := a.onward(lab, s.Name)
	return "none of its runs is computed now; unless a process has it open for workers, continue with: " + onward, err
}

// onward is how to go on with a study. A script starts only where a call says where it is.
func (a *app) onward(lab *store.Reader, name string) (string, error) {
	runs, err := lab.StudyRuns(name)
	if len(runs) > 0 && runs[0].Kind == store.Script {
		files := filesOfStudy(name)
		if len(files) > 1 {
			return a.next("study run FILE") + ", with FILE one of " + format.Few(files, shown), err
		}
		if len(files) == 1 {
			file := files[0]
			anew := a.next("study run " + format.ShellWord(file))
			if changed := study.ChangedCode(".", runs); changed != "" {
				return fmt.Sprintf("%s, with the code as it was; %s has changed since, and %s computes the new version", a.next("study resume "+name+" --allow-scripts ."), changed, anew), err
			}
			return anew, err
		}
		return a.next("study run FILE") + ", with the study's file", err
	}
	return a.next("study resume " + name), err
}

// filesOfStudy are the files in the working folder of the study of a script that is called so, as arguments; nil if there are too many to look at.
func filesOfStudy(name string) (found []string) {
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) > mostLike {
		return nil
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".toml" {
			continue
		}
		if text, err := inputfile.Read(e.Name(), inputfile.Text); err != nil || study.ScriptNamed(e.Name(), text) != name {
			continue
		}
		file := e.Name()
		if strings.HasPrefix(file, "-") {
			file = "./" + file
		}
		found = append(found, file)
	}
	return found
}

// mostCompared bounds the finished runs of a script that are compared with each other.
const mostCompared = 300

// noEffect says which settings of a script changed nothing among the runs that finished last.
func noEffect(lab *store.Reader, name string) ([]string, error) {
	done, err1 := lab.RecentOfStudy(name, store.Done, mostCompared)
	failed, err2 := lab.RecentOfStudy(name, store.Failed, mostCompared)
	if err := errors.Join(err1, err2); err != nil || len(done) == 0 {
		return nil, err
	}
	var hashes []string
	for _, r := range slices.Concat(done, failed) {
		hashes = append(hashes, r.Hash)
	}
	runs, err := judge.LoadOnDemand(lab, hashes...)
	if err != nil || len(runs) == 0 || runs[0].Kind != store.Script {
		return nil, err
	}
	found := judge.WithoutEffect(runs)
	return found, judge.ReadError(runs)
}

// printHealth reports faults of the lab's queue and workers.
func printHealth(a *app, h coordinator.Health) {
	if h.Stuck {
		a.printf("no worker can continue; the study waits until one can, or another joins\n")
	}
	for _, w := range h.Waiting[:min(len(h.Waiting), shown)] {
		a.printf("worker %s: waits: %s (since %s)\n", w.Worker, w.Why, w.Since.Local().Format(time.DateTime))
	}
	if more := len(h.Waiting) - shown; more > 0 {
		a.printf("%d more workers wait\n", more)
	}
	for _, s := range h.Silent[:min(len(h.Silent), shown)] {
		a.printf("worker %s: silent since %s; its run %.12s waits for another worker, or for this one\n", s.Worker, s.Since.Local().Format(time.DateTime), s.Run)
	}
	if h.Unusable.Count == 0 {
		return
	}
	a.printf("%d messages could not be used and were set aside; the last:\n", h.Unusable.Count)
	for _, s := range h.Unusable.Last {
		a.printf("  %s  %s, %d bytes: %s\n", s.Time.Local().Format(time.DateTime), s.What, s.Bytes, s.Why)
	}
}

func printStudyRuns(a *app, lab *store.Reader, title string, runs []store.StudyRun) {
	if len(runs) == 0 {
		return
	}
	a.printf("\n%s\n", title)
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, r := range runs {
		what, values := fmt.Sprintf("epoch %d", r.Epoch), ""
		switch kind := study.KindOf(r.Kind); {
		case r.Error != "":
			what = briefly(r.Error)
		case (r.Status == store.Done || r.Status == store.Running && r.Epoch > 0) && kind != nil:
			values = kind.Headline(lab, r.Hash)
		}
		safetext.Fprintf(w, "  %.12s\t%s\t%s", r.Hash, r.Note, what)
		if values != "" {
			safetext.Fprintf(w, "\t%s", values)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}

type studyCancelCmd struct {
	Name string `arg:"" name:"study" complete:"studies" help:"Name of the study."`
}

func (c *studyCancelCmd) Run(a *app, lab *store.Lab) error {
	before, err := lab.Study(c.Name)
	if err != nil {
		return err
	}
	if row, err := studyRowOf(lab.Reader, before); err == nil && row.Status == "done" {
		return a.emit(row, func() { a.printf("%s is %s: there is nothing to cancel\n", c.Name, row.word()) })
	}
	if err := lab.CancelStudy(c.Name); err != nil {
		return err
	}
	s, err := lab.Study(c.Name)
	if err != nil {
		return err
	}
	row, err := studyRowOf(lab.Reader, s)
	onward, bad := a.onward(lab.Reader, c.Name)
	if err := errors.Join(err, bad); err != nil {
		return err
	}
	return a.emit(row, func() {
		a.printf("%s is cancelled with %d of %d runs done; a process that computes it stops within a second. Continue with: %s\n",
			c.Name, s.Counts[store.Done], s.Runs, onward)
	})
}

type studyRetryCmd struct {
	Name string `arg:"" name:"study" complete:"studies" help:"Name of the study."`
}

func (c *studyRetryCmd) Run(a *app, lab *store.Lab) error {
	n, err := lab.RetryStudy(c.Name)
	if err != nil {
		return err
	}
	onward, err := a.onward(lab.Reader, c.Name)
	if err != nil {
		return err
	}
	return a.emit(map[string]any{"study": c.Name, "runs": n}, func() {
		a.printf("%s will be tried again; a process that computes the study picks them up, otherwise: %s\n", format.Count(n, "failed run"), onward)
	})
}
