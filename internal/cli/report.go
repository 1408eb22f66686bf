package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/internal/store"
)

type reportCmd struct {
	writesFolder

	Runs []string `arg:"" optional:"" complete:"runs" help:"Hashes of runs, or the starts of them; none: every finished training run."`
	Out  string   `help:"Where to write: a folder for the page." default:"./out/report" type:"path" placeholder:"DIR"`
	Open bool     `help:"Show the page in the browser when it is ready."`
}

func (c *reportCmd) Run(a *app) error {
	a.onlyComputes()
	to, err := pageFolder(a.labOutputs(), c.Out)
	if err != nil {
		return err
	}
	lab, err := a.reader()
	if err != nil {
		return err
	}
	hashes := c.Runs
	if len(hashes) == 0 {
		if hashes, err = finishedRuns(lab); err != nil {
			return err
		}
	}
	runs, err := judge.Load(lab, hashes...)
	if err != nil {
		return a.orStudy(lab, err)
	}
	result, err := writeStudy(to, findings.Study{ID: "report", Runs: runs, Commands: []string{a.commandLine()}, Generated: time.Now()})
	if err != nil {
		return err
	}
	return a.made(result, func() { printReport(a, result, nil) }, result.Index, c.Open)
}

// orStudy adds to what is said of a missing run that a study has its name.
func (a *app) orStudy(lab *store.Reader, err error) error {
	var missing *store.NotFoundError
	if errors.As(err, &missing) {
		if _, none := lab.Study(missing.Prefix); none == nil {
			return fmt.Errorf("%w; %s is a study, which is drawn by: %s", err, missing.Prefix, a.next("study report "+format.ShellWord(missing.Prefix)))
		}
	}
	return err
}

func finishedRuns(lab *store.Reader) ([]string, error) {
	runs, err := lab.List(store.Filter{Kinds: []store.Kind{store.Train}, Statuses: []store.Status{store.Done}})
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("the lab has no finished training run; make one with `collapse demo` or `collapse train`. Runs of a script are drawn by: collapse study report NAME")
	}
	hashes := make([]string, len(runs))
	for i, r := range runs {
		hashes[i] = r.Hash
	}
	return hashes, nil
}

// writeStudy judges runs and makes their page.
func writeStudy(to *outfile.Folder, asked findings.Study) (page.Result, error) {
	found, err := asked.Judge()
	if err != nil {
		return page.Result{}, err
	}
	result, err := page.Write(to, found)
	if found.Asked != nil {
		result.Left = found.Asked.Notes
	}
	return result, err
}

// made ends a command that wrote a page: it prints the result, as emit does, and opens the page if asked.
func (a *app) made(v any, human func(), index string, open bool) error {
	err := a.emit(v, human)
	if err != nil || !open {
		return err
	}
	return openInBrowser(index)
}

// printReport prints what a page found and where it is. own are the claims of the study's file.
func printReport(a *app, r page.Result, own []judge.Statement) {
	a.printf("\n%s\n", r.Headline)
	for _, fact := range r.Facts {
		a.printf("  %s\n", fact)
	}
	a.printf("\n")
	a.printBySource("  ", findings.AskedAmong(r.Claims, own), func(claim judge.Claim) {
		a.print("  " + a.verdictMark(claim.Verdict))
		a.printf("%-13s %s\n", claim.Verdict, claim.Statement)
	})
	for _, what := range r.Left {
		a.printf("\n%s\n", what)
	}
	printWritten(a, r)
}

func printWritten(a *app, r page.Result) {
	a.printf("\npage     %s\nfigures  %s (SVG, PNG, CSV, JSON)\n", r.Index, filepath.Join(filepath.Dir(r.Index), "figures"))
	if len(r.Tables) > 0 {
		a.printf("tables   %s (LaTeX, CSV)\n", filepath.Dir(r.Tables[0]))
	}
}
