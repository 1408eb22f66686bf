package cli

import (
	"errors"
	"fmt"
	"os"

	scripts "collapse.example/collapse/internal/script" // script is a name of the tests
	"collapse.example/collapse/internal/store"
)

type runsAddCmd struct {
	Name string `arg:"" help:"Name of the run. A run that was added under it before is replaced."`
	File string `arg:"" type:"path" help:"History: lines such as {\"epoch\": 3, \"values\": {\"train/nc1_pinv\": 0.5}}, as the Python package writes them."`
}

func (runsAddCmd) Help() string {
	return `serve, report and export show the run beside those that were computed here. Values are called split/measure, such as test/accuracy, or by
one word, such as lr; epochs rise.`
}

// addedRun is what was recorded, in JSON.
type addedRun struct {
	Run    string `json:"run"`
	Name   string `json:"name"`
	Epochs int    `json:"epochs"`
}

func (c runsAddCmd) Run(a *app, lab *store.Lab) error {
	f, err := os.Open(c.File)
	if err != nil {
		return unnamed(err)
	}
	defer f.Close()
	r, err := scripts.ReadHistory(c.Name, f)
	if err != nil {
		var line *scripts.HistoryError
		if err = fmt.Errorf("%s: %w", c.File, err); errors.As(err, &line) {
			return usageError{err}
		}
		return err
	}
	hash, err := r.Save(lab)
	if err != nil {
		return err
	}
	return a.emit(addedRun{hash, c.Name, r.Epochs()}, func() {
		a.printf("run %.12s: %d epochs of %s; %s shows it\n", hash, r.Epochs(), c.Name, a.next("report "+hash[:12]))
	})
}
