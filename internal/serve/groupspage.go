package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/measure"
)

// groupsPage compares the runs of a study by the values of one setting.
type groupsPage struct {
	frame
	Name    string // of the study
	By      string
	Say     []string
	Left    string // what was left out
	Columns []groupColumn
	Table   []groupRow
	Figures []shownFigure
	List    runsList // for the filter
}

// groupRow is a group in the table: for each column the mean over its runs, with the smallest and the largest.
type groupRow struct {
	Words, URL string
	Runs       int
	Values     []string
}

// groupColumn is a measure at one epoch: the last one at which all runs that have the measure have it, since runs that are still under way
// are no worse for having trained for less long.
type groupColumn struct {
	judge.SeriesKey
	Title string
	Epoch int64 // 0: there is no such epoch
}

// usualColumns are those of runs that this program trains.
var usualColumns = []groupColumn{{judge.SeriesKey{Split: "train", Measure: measure.KeyNC1Pinv}, "NC1", 0}, {judge.SeriesKey{Split: "train", Measure: measure.KeyAccuracy}, "train acc.", 0},
	{judge.SeriesKey{Split: "test", Measure: measure.KeyAccuracy}, "test acc.", 0}, {judge.SeriesKey{Split: "test", Measure: "dilation"}, "dilation", 0}}

// mostOwnColumns is how many of a script's values the table shows.
const mostOwnColumns = 6

// columnsOf are the columns for some groups, with their epochs.
func columnsOf(groups []figure.Group) (out []groupColumn) {
	out = slices.Clone(usualColumns)
	if len(groups) > 0 && groups[0].Runs[0].Kind == store.Script {
		out = nil
		for _, key := range groups[0].Runs[0].OwnKeys() {
			out = append(out, groupColumn{SeriesKey: key, Title: judge.NameOf(key)})
		}
		out = out[:min(len(out), mostOwnColumns)]
	}
	for i := range out {
		out[i].Epoch = commonEpoch(groups, out[i].SeriesKey)
	}
	return out
}

// commonEpoch is the last epoch at which every run that has a measure at all has it; 0 if there is none.
func commonEpoch(groups []figure.Group, key judge.SeriesKey) (last int64) {
	have, at := 0, map[int64]int{}
	for _, g := range groups {
		for i := range g.Runs {
			steps := map[int64]bool{}
			for _, p := range g.Runs[i].Rows(key.Split, key.Layer, key.Measure) {
				if p.Missing == "" {
					steps[p.Step] = true
				}
			}
			for step := range steps {
				at[step]++
			}
			have += min(len(steps), 1)
		}
	}
	for step, n := range at {
		if n == have {
			last = max(last, step)
		}
	}
	return last
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

// furthest leaves out the runs with which others of a search began.
func furthest(rows []store.Run) []store.Run {
	longest := map[string]int64{}
	beginning := func(r store.Run) string { return (&judge.Run{Run: r}).Beginning() }
	for _, r := range rows {
		longest[beginning(r)] = max(longest[beginning(r)], r.LastEpoch)
	}
	return slices.DeleteFunc(rows, func(r store.Run) bool { return r.LastEpoch < longest[beginning(r)] })
}

// grouped reads the runs of a study that the filter takes, with all their values, in groups. Degenerate runs are left out, as from all
// means, unless a state is asked for, or the runs are of scripts, which are compared by more than collapse.
func (s *Server) grouped(q url.Values) (found grouping, err error) {
	err = s.lab.read(func(lab *store.Reader) error {
		some, err := s.study(lab, q)
		if err != nil {
			return err
		}
		found.name, found.rows = some.name, some.rows
		found.list = listOf(q, found.rows, some.varied, some.own...)
		f := filterOf(q)
		var rows []store.Run
		for i := range found.rows {
			row := &found.rows[i]
			switch {
			case !f.takes(row):
			case f.state == "" && row.Kind != store.Script && slices.Contains(row.States(), judge.Degenerate):
				found.left++
			default:
				rows = append(rows, row.Run.Run)
			}
		}
		if s.opt.Searches != nil && q.Get("study") != "" {
			if searches, err := s.opt.Searches(lab, q.Get("study")); err == nil && len(searches) > 0 {
				rows = furthest(rows)
			}
		}
		runs, err := s.load(lab, rows)
		found.groups = figure.Groups(runs, q.Get("by"))
		found.all = len(found.groups)
		found.groups = found.groups[:min(found.all, figure.MostGroups)]
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
	case found.all > figure.MostGroups:
		p.Say = append(p.Say, fmt.Sprintf("%d values of %s: these are the first %d, as many as one picture can distinguish.", found.all, p.By, figure.MostGroups))
	case found.all == 0:
		p.Say = append(p.Say, "No run is like that.")
	}
	if found.left > 0 {
		p.Left = fmt.Sprintf("%s left out; the state “done” includes them.", format.Count(found.left, "degenerate run"))
	}
	p.Columns = columnsOf(found.groups)
	for _, g := range found.groups {
		p.Table = append(p.Table, rowOf(g, p.By, p.Columns, q))
	}
	query := listQuery(q)
	query.Set("by", p.By)
	p.Figures = drawOthers(follows(r), found.pictures(p.By), "/compare/figures", query)
	s.write(w, http.StatusOK, "groups", p)
	return nil
}

func rowOf(g figure.Group, by string, columns []groupColumn, q url.Values) groupRow {
	list := listQuery(q)
	list.Set(named(by), g.Value)
	row := groupRow{Words: g.Words, URL: "/study?" + list.Encode() + "#list", Runs: len(g.Runs)}
	for _, c := range columns {
		row.Values = append(row.Values, findings.MeanAt(g.Runs, c.SeriesKey, c.Epoch))
	}
	return row
}
