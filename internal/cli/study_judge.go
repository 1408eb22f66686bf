package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/question"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

type studyJudgeCmd struct {
	Study string `arg:"" complete:"studies" help:"Name of a study, or its file: the claims are those of the file then, whatever they were when it ran." placeholder:"NAME|FILE"`
}

// judgedStudy is what `study judge --json` prints.
type judgedStudy struct {
	Study  string         `json:"study"`
	Runs   int            `json:"runs"` // finished, of all
	Of     int            `json:"of"`
	Claims []judge.Claim  `json:"claims"`
	Tables []judge.Tabled `json:"tables"`
	Notes  []string       `json:"notes,omitempty"` // tables that cannot be filled, and why
	stored bool           // the claims are those of the file when it last ran
}

func (c *studyJudgeCmd) Run(a *app) error {
	lab, err := a.reader()
	if err != nil {
		return err
	}
	name, text, err := studyNamed(c.Study)
	if err != nil {
		return err
	}
	s, err := lab.Study(name)
	if err != nil {
		return err
	}
	text = asOfNow(s, text)
	if err := noteOthers(a, lab, s, c.Study); err != nil {
		return err
	}
	questions, err := askedOf(name, text)
	if err != nil {
		return err
	}
	if len(questions.Claims)+len(questions.Tables) == 0 {
		return fmt.Errorf("study %s has no claims or tables; write them into its file as [[claim]] and [[table]] (docs/trainers.md), and give the file: collapse study judge FILE", name)
	}
	runs, err := endedOf(lab, name)
	if err != nil {
		return err
	}
	answers, err := judge.Questions{Claims: questions.Claims}.Judge(runs)
	if err := cmp.Or(judge.ReadError(runs), err); err != nil {
		return err
	}
	tables, notes := findings.Tabulate(questions.Tables, runs)
	if err := judge.ReadError(runs); err != nil {
		return err
	}
	found := judgedStudy{name, s.Counts[store.Done], max(s.Runs, study.Asks(s.Source)), answers.Claims, append([]judge.Tabled{}, tables...), notes, name == c.Study}
	return a.emit(found, func() { printJudged(a, found) })
}

// studyNamed is the name of a study and the text of its file, "" if it was named by itself.
func studyNamed(arg string) (name, text string, err error) {
	if !isFile(arg) {
		return arg, "", nil
	}
	f, err := study.ReadFile(arg, nil, 0)
	if err != nil {
		return "", "", unnamed(err)
	}
	source, err := inputfile.Read(arg, inputfile.Text)
	return f.Name, string(source), err
}

// asOfNow is the text of a study's file with its questions: that which was given, or "", then that with which it last ran.
func asOfNow(s store.Study, given string) string {
	if given == "" {
		return s.Source
	}
	return question.Given(s.Source) + given
}

// noteOthers says that a file asks for other runs than the study has. A search finds its runs itself.
func noteOthers(a *app, lab *store.Reader, s store.Study, file string) error {
	if !isFile(file) {
		return nil
	}
	sets, seeds := study.Overrides(s.Source)
	f, err := study.ReadFile(file, sets, seeds)
	if err != nil {
		a.notef("the file does not go with what --set and --seeds said when the study last ran, so that its runs are not compared with the study's: %v\n", err)
		return nil
	}
	if f.Search != nil {
		return nil
	}
	items, err := f.Items(nil)
	if err != nil {
		return err
	}
	if err := study.AsItIs(lab, items); err != nil {
		return err
	}
	members, err := lab.StudyRuns(s.Name)
	if err != nil {
		return err
	}
	has := 0
	for _, it := range items {
		if slices.ContainsFunc(members, func(r store.StudyRun) bool { return r.Hash == it.Hash }) {
			has++
		}
	}
	if has < len(items) || has < len(members) {
		a.notef("the file asks for %s, of which the study has %d; this is about the %s of the study, as it last ran\n", format.Count(len(items), "run"), has, format.Count(len(members), "run"))
	}
	return nil
}

// askedOf reads the questions of a study from the text of its file.
func askedOf(name, text string) (question.Set, error) {
	questions, err := question.Parse(text)
	if err != nil {
		return questions, usageError{fmt.Errorf("study %s: %w", name, err)}
	}
	return questions, nil
}

// endedOf are the runs of a study that finished or failed, whose measures are read when a claim asks for them.
func endedOf(lab *store.Reader, name string) ([]judge.Run, error) {
	done, err := lab.StudyRuns(name, store.Done, store.Failed)
	if err != nil {
		return nil, err
	}
	hashes := make([]string, len(done))
	for i, r := range done {
		hashes[i] = r.Hash
	}
	return judge.LoadOnDemand(lab, hashes...)
}

func printJudged(a *app, found judgedStudy) {
	a.printf("%s: %d of %d runs are finished\n", found.Study, found.Runs, found.Of)
	if found.stored {
		a.notef("the claims are those that its file had when it last ran; collapse study judge FILE takes them as they are now\n")
	}
	a.printf("\n")
	a.printClaims(findings.AskedBy(found.Claims))
	for _, t := range found.Tables {
		a.printf("\n%s\n", t.Title)
		shown, w := t.Shown(), tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		for _, row := range append([][]string{shown.Columns}, shown.Rows...) {
			for i, cell := range row {
				row[i] = safetext.Line(cell)
			}
			fmt.Fprintln(w, strings.Join(row, "\t"))
		}
		w.Flush()
		a.printf("%s\n", t.Caption)
	}
	for _, note := range found.Notes {
		a.printf("\n%s\n", note)
	}
}

// printClaims prints verdicts, each with the sentence, where a paper says it, and why.
func (a *app) printClaims(claims []judge.Claim) {
	a.printBySource("", claims, func(claim judge.Claim) {
		a.print(a.verdictMark(claim.Verdict))
		a.printf("%-14s %s\n", claim.Verdict, claim.Statement)
		for _, line := range []string{claim.Cited(), claim.Reason, contradicted(claim), claim.Closest(), claim.Averaged()} {
			if line != "" {
				a.print(a.verdictMark(""))
				a.printf("%-14s %s\n", "", line)
			}
		}
	})
}

// contradicted names the cells that contradict a claim about several; "" if none does, or each.
func contradicted(c judge.Claim) string {
	if c.Effect == nil || c.Effect.Mean {
		return ""
	}
	var names []string
	for _, cell := range c.Effect.Cells {
		if cell.Contradicts {
			names = append(names, cell.Name)
		}
	}
	if len(names) == 0 || len(names) == len(c.Effect.Cells) {
		return ""
	}
	return fmt.Sprintf("contradicted in %d of %d cells: %s", len(names), len(c.Effect.Cells), strings.Join(names, "; "))
}
