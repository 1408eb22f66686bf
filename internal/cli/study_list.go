package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/trials"
)

type studyListCmd struct {
	All bool   `help:"Archived studies, too."`
	Tag string `help:"Only studies with this tag."`
}

// studyRow is the JSON of one study.
type studyRow struct {
	Name      string               `json:"name"`
	Title     string               `json:"title,omitempty"`
	Status    string               `json:"status"` // open, done, cancelled
	Runs      int                  `json:"runs"`
	Removed   int                  `json:"removed,omitempty"` // runs for which its file asks, and which it has no longer
	Counts    map[store.Status]int `json:"counts"`
	CreatedMS int64                `json:"created_ms"`
	Archived  bool                 `json:"archived,omitempty"`
	Tags      []string             `json:"tags,omitempty"`
}

func studyRowOf(lab *store.Reader, s store.Study) (studyRow, error) {
	status := "open"
	ended, err := true, error(nil)
	if s.Open() == 0 {
		ended, err = trials.Ended(lab, s)
	}
	switch {
	case s.Open() == 0 && ended:
		status = "done"
	case s.Cancelled:
		status = "cancelled"
	}
	return studyRow{Name: s.Name, Title: s.Title, Status: status, Runs: s.Runs, Removed: max(0, study.Asks(s.Source)-s.Runs), Counts: s.Counts, CreatedMS: s.Created.UnixMilli()}, err
}

// word is the state for people: what has failed is not done, and what lacks runs is not complete.
func (r studyRow) word() string {
	if r.Status == "done" && r.Removed > 0 {
		return "incomplete"
	}
	if r.Status == "done" && r.Counts[store.Failed] > 0 {
		return "ended"
	}
	return r.Status
}

func (c *studyListCmd) Run(a *app, lab *store.Reader) error {
	list, err := lab.Studies()
	if err != nil {
		return err
	}
	archived, err := lab.ArchivedStudies()
	if err != nil {
		return err
	}
	tags, err := lab.StudyTags()
	if err != nil {
		return err
	}
	if c.Tag != "" {
		if !slices.ContainsFunc(list, func(s store.Study) bool { return slices.Contains(tags[s.Name], c.Tag) }) {
			a.notef("no study has the tag %s\n", c.Tag)
		}
		list = slices.DeleteFunc(list, func(s store.Study) bool { return !slices.Contains(tags[s.Name], c.Tag) })
	}
	if !c.All {
		list = slices.DeleteFunc(list, func(s store.Study) bool { return archived[s.Name] })
	}
	rows := []studyRow{}
	for _, s := range list {
		row, err := studyRowOf(lab, s)
		if err != nil {
			return err
		}
		row.Archived, row.Tags = archived[s.Name], tags[s.Name]
		rows = append(rows, row)
	}
	if n := len(archived); n > 0 && !c.All {
		a.notef("%s archived: %s\n", map[bool]string{true: "1 study is", false: strconv.Itoa(n) + " studies are"}[n == 1], a.next("study list --all"))
	}
	return a.emit(rows, func() {
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "STUDY\tSTATUS\tRUNS\tDONE\tFAILED\tCREATED\t"+map[bool]string{true: "TAGS\t"}[len(tags) > 0]+"TITLE")
		for i, r := range rows {
			status := r.word() + map[bool]string{true: ", archived"}[r.Archived]
			safetext.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\t", r.Name, status, r.Runs, r.Counts[store.Done], r.Counts[store.Failed],
				list[i].Created.Local().Format("2006-01-02 15:04"))
			if len(tags) > 0 {
				safetext.Fprintf(w, "%s\t", strings.Join(r.Tags, ", "))
			}
			safetext.Fprintf(w, "%s\n", r.Title)
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
		if s.Counts[store.Running] > 0 {
			return fmt.Errorf("runs of study %s are under way; stop it first: %s", name, a.next("study cancel "+format.ShellWord(name)))
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
