package serve

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
)

// mostGroups bounds how many groups one picture compares.
const mostGroups = 12

// groupsPage compares the runs of a study by the values of one setting.
type groupsPage struct {
	frame
	Name    string // of the study
	By      string
	Say     []string
	Left    string // what was left out
	Table   []groupRow
	Figures []shownFigure
	List    runsList // for the filter
}

// groupRow is a group in the table: the mean over its runs of their newest values, with the smallest and the largest.
type groupRow struct {
	Words, URL       string
	Runs             int
	NC1, Train, Test string
	Dilation         string
}

// grouping is what a request for groups finds.
type grouping struct {
	name   string
	groups []figure.Group
	all    int // groups that there are
	rows   []runRow
	list   runsList
	left   int // degenerate runs that were left out
}

// pictures are those of the page: without groups they have no panels.
func (g grouping) pictures(by string) []figure.Picture {
	return []figure.Picture{figure.AgainstSetting(g.groups, by), figure.GroupCurves(g.groups)}
}

// grouped reads the runs of a study that the filter takes, with all their values, in groups. Degenerate runs are left out, as from all
// means, unless a state is asked for.
func (s *Server) grouped(q url.Values) (found grouping, err error) {
	err = s.lab.read(func(lab *store.Reader) error {
		some, err := s.study(lab, q)
		if err != nil {
			return err
		}
		found.name, found.rows = some.name, some.rows
		found.list = listOf(q, found.rows, some.varied)
		f := filterOf(q)
		var rows []store.Run
		for i := range found.rows {
			row := &found.rows[i]
			switch {
			case !f.takes(row):
			case f.state == "" && slices.Contains(row.States(), judge.Degenerate):
				found.left++
			default:
				rows = append(rows, row.Run.Run)
			}
		}
		runs, err := s.load(lab, rows)
		found.groups = figure.Groups(runs, q.Get("by"))
		found.all = len(found.groups)
		found.groups = found.groups[:min(found.all, mostGroups)]
		return err
	})
	return found, err
}

func (s *Server) groupsPage(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	found, err := s.grouped(q)
	if err != nil {
		return err
	}
	p := groupsPage{frame: s.frame(r, "compare", "Compare by "+clip(q.Get("by"))), Name: found.name, By: q.Get("by"), List: found.list}
	p.Live, p.Say = "list", found.list.Say
	switch {
	case len(valuesOf(found.rows, p.By)) == 0:
		p.Say = append(p.Say, fmt.Sprintf("No run here has a setting %s.%s", clip(p.By), nearSetting(found.rows, p.By)))
	case found.all > mostGroups:
		p.Say = append(p.Say, fmt.Sprintf("%d values of %s: these are the first %d, as many as one picture can distinguish.", found.all, p.By, mostGroups))
	case found.all == 0:
		p.Say = append(p.Say, "No run is like that.")
	}
	if found.left > 0 {
		p.Left = fmt.Sprintf("%s left out; the state “done” includes them.", format.Count(found.left, "degenerate run"))
	}
	for _, g := range found.groups {
		p.Table = append(p.Table, rowOf(g, p.By, q))
	}
	query := listQuery(q)
	query.Set("by", p.By)
	p.Figures = drawOthers(follows(r), found.pictures(p.By), "/compare/figures", query)
	s.write(w, http.StatusOK, "groups", p)
	return nil
}

func rowOf(g figure.Group, by string, q url.Values) groupRow {
	list := listQuery(q)
	list.Set(by, g.Value)
	return groupRow{Words: g.Words, URL: "/study?" + list.Encode() + "#list", Runs: len(g.Runs), NC1: spread(g.Runs, "train", "nc1_pinv"),
		Train: spread(g.Runs, "train", "accuracy"), Test: spread(g.Runs, "test", "accuracy"), Dilation: spread(g.Runs, "test", "dilation")}
}

// spread is the mean of the newest values, with the smallest and the largest; "–" without any.
func spread(runs []judge.Run, split, key string) string {
	var values []float64
	for i := range runs {
		if p, ok := runs[i].Newest(split, key); ok && !math.IsNaN(p.Value) {
			values = append(values, p.Value)
		}
	}
	switch len(values) {
	case 0:
		return "–"
	case 1:
		return format.Measure(key, values[0])
	}
	return fmt.Sprintf("%s (%s to %s)", format.Measure(key, judge.Mean(values)), format.Measure(key, slices.Min(values)), format.Measure(key, slices.Max(values)))
}
