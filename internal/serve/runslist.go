package serve

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
)

const (
	perPage      = 100 // runs that a study's page lists at once; pictures and claims use all runs
	mostColumns  = 6   // settings that have a column
	mostProblems = 6   // sentences about what an address asks for in vain
	hashDigits   = 12  // of a chosen run in an address
)

// runsList is the table of a study's runs: some of them, in an order, page by page. All of it is in the address, and so are the runs
// that are chosen to be compared.
type runsList struct {
	Rows     []runRow
	All      int // runs of the study
	Matching int // runs that the filter takes
	Say      []string
	Order    *order            // nil: the heads of columns are not links
	Settings []string          // with a column
	Varied   []string          // in which runs differ
	Own      []judge.SeriesKey // values of a script that have columns
	By       string            // the setting by which runs are grouped
	Offers   []offer
	States   []option
	Find     string
	Filtered bool
	Identity url.Values // names the study
	Chosen   []string   // runs chosen to be compared
	Page     int        // from 1
	Pages    int
}

// listOf lists the rows that an address asks for. The settings are those in which runs differ.
func listOf(q url.Values, rows []runRow, settings []string, own ...judge.SeriesKey) runsList {
	f := filterOf(q)
	l := runsList{All: len(rows), Own: own, Settings: settings[:min(len(settings), mostColumns)], Varied: settings, By: q.Get("by"), Find: f.find, Filtered: f.on(), Identity: identity(q),
		Say: f.problems(rows), Offers: f.offers(rows, settings), States: f.states(rows), Chosen: q["run"], Page: 1}
	if l.By == "" {
		l.By = groupedBy(f, settings)
	}
	base := listQuery(q)
	base["run"] = q["run"]
	o, known := orderOf(q, "/study?"+base.Encode(), settings, own...)
	if !known {
		l.Say = append(l.Say, fmt.Sprintf("Runs cannot be sorted by %s.", clip(strings.TrimPrefix(q.Get("sort"), "-"))))
	}
	l.Order = &o
	if n, err := strconv.Atoi(q.Get("page")); err == nil {
		l.Page = n
	} else if q.Get("page") != "" {
		l.Say = append(l.Say, fmt.Sprintf("There is no page %s of this list.", clip(q.Get("page"))))
	}
	l.Say = l.Say[:min(len(l.Say), mostProblems)]
	var taken []runRow
	for _, r := range rows {
		if f.takes(&r) {
			taken = append(taken, r)
		}
	}
	o.sort(taken)
	l.Matching = len(taken)
	l.Pages = max(1, (len(taken)+perPage-1)/perPage)
	l.Page = min(max(l.Page, 1), l.Pages)
	l.Rows = taken[min(len(taken), (l.Page-1)*perPage):min(len(taken), l.Page*perPage)]
	return l
}

// groupedBy is the setting by which runs are first offered to be grouped: one that the filter leaves open, other than the seed.
func groupedBy(f filter, settings []string) string {
	for _, key := range settings {
		if f.values[key] == nil && key != "run.seed" {
			return key
		}
	}
	return ""
}

// plainList is a table of runs without an order to choose.
func plainList(rows []runRow) runsList { return runsList{Rows: rows} }

// Head is the head of a column.
func (l runsList) Head(name string) sorted {
	if l.Order != nil {
		return l.Order.By(name)
	}
	s := order{}.By(name)
	return sorted{Words: s.Words}
}

// Setting is the value of a setting of a run, as a column shows it.
func (l runsList) Setting(r runRow, key string) string {
	if v, has := r.Settings[key]; has {
		return judge.ShortValue(v)
	}
	return "–"
}

// Value is the newest value of a script's run, as a column shows it.
func (l runsList) Value(r runRow, key judge.SeriesKey) string {
	switch p, ok := r.Newest(key.Split, key.Measure); {
	case ok:
		return format.Measure(key.Measure, p.Value)
	case p.Missing != "":
		return p.Lack()
	}
	return "–"
}

// OwnHead is the head of the column of a script's value.
func (l runsList) OwnHead(key judge.SeriesKey) sorted { return l.Head(judge.NameOf(key)) }

// Has says that a column has values. Lists of the program's own runs always show the first three.
func (l runsList) Has(column string) bool {
	trained := slices.ContainsFunc(l.Rows, func(r runRow) bool { return r.Kind != store.Script })
	return len(l.Own) == 0 && trained && slices.Contains([]string{"NC1", "Accuracy", "Test"}, column) || !l.ownHas(column) && anyValue(l.Rows, column)
}

// ownHas says that a column of a script's values shows the same.
func (l runsList) ownHas(column string) bool {
	key := map[string]judge.SeriesKey{"NC1": {Split: "train", Measure: "nc1_pinv"}, "Accuracy": {Split: "train", Measure: "accuracy"}, "Test": {Split: "test", Measure: "accuracy"},
		"Dilation": {Split: "test", Measure: "dilation"}, "Memorization": {Split: "train", Measure: "memorization_flipped"}}[column]
	return slices.Contains(l.Own, key)
}

// Ticked says that a run is chosen.
func (l runsList) Ticked(hash string) bool {
	for _, c := range l.Chosen {
		if c != "" && strings.HasPrefix(hash, c) {
			return true
		}
	}
	return false
}

// Elsewhere are the chosen runs that the rows do not include.
func (l runsList) Elsewhere() (out []string) {
	for _, c := range l.Chosen {
		here := false
		for _, r := range l.Rows {
			here = here || c != "" && strings.HasPrefix(r.Hash, c)
		}
		if !here {
			out = append(out, c)
		}
	}
	return out
}

// PageURL is the address of a page of the list.
func (l runsList) PageURL(n int) string { return fmt.Sprintf("%s&page=%d#list", l.Order.URL(), n) }

// Whole is the address of the list without a filter.
func (l runsList) Whole() string { return "/study?" + l.Identity.Encode() }

// Compare is the address of the page that compares the runs by the setting that is offered; "" if there is none.
func (l runsList) Compare() string {
	if l.By == "" || l.All < 2 {
		return ""
	}
	q := maps.Clone(l.Identity)
	q.Set("by", l.By)
	return "/compare?" + q.Encode()
}

// Newest is the address of the list in its first order.
func (l runsList) Newest() string { return l.Order.base }

// Sort is the order as an address names it.
func (l runsList) Sort() string { return l.Order.key() }

// Prev and Next are 0 at the ends.
func (l runsList) Prev() int { return l.Page - 1 }

func (l runsList) Next() int {
	if l.Page >= l.Pages {
		return 0
	}
	return l.Page + 1
}
