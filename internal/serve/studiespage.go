package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"sort"
	"strings"
	"time"

	"collapse.example/collapse/internal/store"
)

// How many runs the first page lists: the newest, and running ones.
const (
	recentRuns  = 12
	mostRunning = 40
)

// studiesPage is the first page: what the lab holds and what is running.
type studiesPage struct {
	frame
	Studies  []studyRow
	Archived []studyRow
	Total    int
	Now      []runRow // under way
	Recent   []runRow
}

// studyRow is one line of the first page: a study, a tag, or the runs of one kind that have neither.
type studyRow struct {
	Name   string
	Title  string // if the study has one
	Tags   []string
	URL    string
	Counts counts
	Left   string
	Newest time.Time
	study  bool // and no tag or kind
}

// Summary is the address of what the card shows of the runs.
func (r studyRow) Summary() string { return strings.Replace(r.URL, "/study?", "/study/summary?", 1) }

// counts are runs by state.
type counts struct {
	Total, Done, Running, Failed, Interrupted, Pending int

	seconds float64 // spent by those finished runs that were timed
	timed   int
}

func (c *counts) add(t store.RunCount) {
	c.Total += t.Runs
	switch t.Status {
	case store.Done:
		c.Done += t.Runs
		c.seconds, c.timed = c.seconds+t.Seconds, c.timed+t.Timed
	case store.Running:
		c.Running += t.Runs
	case store.Failed:
		c.Failed += t.Runs
	case store.Interrupted:
		c.Interrupted += t.Runs
	case store.Pending:
		c.Pending += t.Runs
	}
}

// left estimates the time left; "" while nothing is known. It counts the mean time of a finished run for each waiting run, and
// for each running one what it has left, or half a run if unknown.
func (c *counts) left(running []runRow) string {
	var rest, each float64
	known := 0
	for _, r := range running {
		if r.leftSeconds > 0 {
			rest += r.leftSeconds
			each += r.wholeSeconds
			known++
		}
	}
	var mean float64
	switch {
	case c.Running == 0 || c.timed == 0 && known == 0:
		return ""
	case c.timed > 0:
		mean = c.seconds / float64(c.timed)
	default:
		mean = each / float64(known)
	}
	rest += mean/2*float64(c.Running-known) + mean*float64(c.Pending)
	return duration(rest / float64(c.Running))
}

// about is a duration that is an estimate.
func about(duration string) string {
	if strings.HasPrefix(duration, "under") {
		return duration
	}
	return "about " + duration
}

// duration writes seconds for people.
func duration(s float64) string {
	switch {
	case s < 1:
		return "under a second"
	case s < 90:
		return fmt.Sprintf("%.0f s", s)
	case s < 90*60:
		return fmt.Sprintf("%.0f min", s/60)
	}
	return fmt.Sprintf("%.1f h", s/3600)
}

// begun are the runs that the first page lists: waiting runs have nothing to show, and a study has hundreds.
var begun = []store.Status{store.Running, store.Done, store.Failed, store.Interrupted}

func (s *Server) studiesPage(w http.ResponseWriter, r *http.Request) error {
	p := studiesPage{frame: s.frame(r, "studies", "Studies")}
	p.Live = "list"
	err := s.lab.read(func(lab *store.Reader) error {
		counted, err := lab.RunCounts()
		if err != nil {
			return err
		}
		running, err := lab.List(store.Filter{Statuses: []store.Status{store.Running}, Limit: mostRunning})
		if err != nil {
			return err
		}
		recent, err := lab.List(store.Filter{Statuses: begun, Limit: recentRuns})
		if err != nil {
			return err
		}
		if p.Now, err = s.mixed(lab, running); err != nil {
			return err
		}
		if p.Recent, err = s.mixed(lab, recent); err != nil {
			return err
		}
		titles, err := lab.StudyTitles()
		if err != nil {
			return err
		}
		archived, err := lab.ArchivedStudies()
		if err != nil {
			return err
		}
		tags, err := lab.StudyTags()
		for _, row := range studyRows(counted, titles) {
			p.Total += row.Counts.Total
			if row.study {
				row.Tags = tags[row.Name]
			}
			if row.study && archived[row.Name] {
				p.Archived = append(p.Archived, row)
			} else {
				p.Studies = append(p.Studies, row)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	s.write(w, http.StatusOK, "studies", p)
	return nil
}

// studyRows gathers counts by study, else by tag, else by kind.
func studyRows(counted []store.RunCount, titles map[string]string) []studyRow {
	byURL := map[string]*studyRow{}
	var order []*studyRow
	for _, t := range counted {
		row := studyOf(t.Study, t.Tag, t.Kind)
		one := byURL[row.URL]
		if one == nil {
			row.Title = titles[t.Study]
			one = &row
			byURL[row.URL] = one
			order = append(order, one)
		}
		one.Counts.add(t)
		if t.Newest.After(one.Newest) {
			one.Newest = t.Newest
		}
	}
	var out []studyRow
	for _, one := range order {
		one.Left = one.Counts.left(nil)
		out = append(out, *one)
	}
	sort.SliceStable(out, func(i, j int) bool { a, b := &out[i], &out[j]; return b.Newest.Compare(a.Newest) < 0 })
	return out
}

// studyOf returns the name and the page of a run's study, else of its tag, else of its kind.
func studyOf(study, tag string, kind store.Kind) studyRow {
	row := studyRow{Name: study, study: study != ""}
	key, value := "study", study
	switch {
	case study != "":
	case tag != "":
		row.Name, key, value = tag, "tag", tag
	default:
		row.Name, key, value = "Single runs", "kind", string(kind)
		if kind == store.Script {
			row.Name = "Runs of scripts, of no study now"
		} else if kind != store.Train {
			row.Name += " of " + string(kind)
		}
	}
	row.URL = "/study?" + url.Values{key: {value}}.Encode()
	return row
}
