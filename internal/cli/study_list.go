package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/store"
)

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

func (studyListCmd) Run(a *app, lab *store.Reader) error {
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

type studyRmCmd struct {
	Names []string `arg:"" name:"study" complete:"studies" help:"Names of studies (see collapse study list)."`
}

func (c *studyRmCmd) Run(a *app, lab *store.Lab) error {
	runs := 0
	for _, name := range c.Names { // before removing any, so that a misspelt name removes nothing
		s, err := lab.Study(name)
		if err != nil {
			return err
		}
		runs += s.Runs
	}
	for _, name := range c.Names {
		if err := lab.RemoveStudy(name); err != nil {
			return err
		}
	}
	return a.emit(map[string]any{"removed": c.Names, "runs": runs}, func() {
		a.printf("removed %s; the lab keeps its %s\n", strings.Join(c.Names, ", "), format.Count(runs, "run"))
	})
}
