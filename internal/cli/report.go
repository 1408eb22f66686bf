package cli

import (
	"fmt"
	"time"

	"collapse/internal/judge"
	"collapse/internal/page"
	"collapse/internal/store"
)

type reportCmd struct {
	Runs []string `arg:"" optional:"" complete:"runs" help:"Hashes of runs, or the starts of them; none: every finished training run."`
	Out  string   `help:"Where to write: a folder for the page." default:"./out/report" type:"path" placeholder:"DIR"`
	Open bool     `help:"Show the page in the browser when it is ready."`
}

func (c *reportCmd) Run(a *app) error {
	a.onlyComputes()
	if err := a.pageFolder(a.labOutputs(), c.Out); err != nil {
		return err
	}
	lab, err := store.OpenReader(a.flags.Lab)
	if err != nil {
		return err
	}
	defer lab.Close()
	hashes := c.Runs
	if len(hashes) == 0 {
		if hashes, err = finishedRuns(lab); err != nil {
			return err
		}
	}
	runs, err := judge.Load(lab, hashes...)
	if err != nil {
		return err
	}
	result, err := page.Write(c.Out, page.Study{ID: "report", Runs: runs, Commands: []string{a.commandLine()}, Generated: time.Now()})
	if err != nil {
		return err
	}
	if err := a.emit(result, func() { printReport(a, result) }); err != nil {
		return err
	}
	if c.Open {
		return openInBrowser(result.Index)
	}
	return nil
}

func finishedRuns(lab *store.Reader) ([]string, error) {
	runs, err := lab.List(store.Filter{Kinds: []store.Kind{store.Train}, Statuses: []store.Status{store.Done}})
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("the lab has no finished training run; make one with `collapse demo` or `collapse train`")
	}
	hashes := make([]string, len(runs))
	for i, r := range runs {
		hashes[i] = r.Hash
	}
	return hashes, nil
}
