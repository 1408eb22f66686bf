package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"collapse/internal/figure"
	"collapse/internal/judge"
	"collapse/internal/page"
	"collapse/internal/store"
)

// perPage is how many runs a study's page lists at once. Pictures and claims use all runs.
const perPage = 100

// studyPage is one study while it fills.
type studyPage struct {
	frame
	Name     string
	Heading  string // the study's title, if it has one
	Counts   counts
	Left     string
	Judged   []judged
	Figures  []shownFigure // for the whole study
	Failures []runRow
	Rows     []runRow
	Page     int // from 1
	Pages    int
	Base     string // address of the same study, without a page
	Study    string // its name, if it can be controlled
	Order    order
}

// judged is what an experiment's finished runs show, with its figures drawn.
type judged struct {
	page.Judged
	Drawn []shownFigure
}

// study reads the runs that a request names, newest first, and counts all of them.
func (s *Server) study(lab *store.Reader, q url.Values) (runs []judge.Run, c counts, name string, err error) {
	study, tag, kind := q.Get("study"), q.Get("tag"), store.Kind(q.Get("kind"))
	if study == "" && tag == "" && kind == "" {
		return nil, c, "", badRequest("a study is named by ?study=…, a tag by ?tag=…, and runs without either by ?kind=…")
	}
	wanted := studyOf(study, tag, kind)
	counted, err := lab.RunCounts()
	if err != nil {
		return nil, c, "", err
	}
	for _, t := range counted {
		if studyOf(t.Study, t.Tag, t.Kind).URL == wanted.URL {
			c.add(t)
		}
	}
	if c.Total == 0 {
		return nil, c, "", notFound("the lab has no runs of the study %s", clip(wanted.Name))
	}
	filter := store.Filter{Study: study}
	switch {
	case study != "":
	case tag != "":
		filter.Tag = tag
	default:
		filter.Kinds, filter.Loose = []store.Kind{kind}, true
	}
	rows, err := lab.List(filter)
	if err != nil {
		return nil, c, "", err
	}
	runs, err = s.load(lab, rows, page.StudyMeasures)
	return runs, c, wanted.Name, err
}

// identity is the part of a query that names a study.
func identity(q url.Values) url.Values {
	for _, k := range []string{"study", "tag", "kind"} {
		if v := q.Get(k); v != "" {
			return url.Values{k: {v}}
		}
	}
	return url.Values{}
}

func (s *Server) studyPage(w http.ResponseWriter, r *http.Request) error {
	var runs []judge.Run
	q := r.URL.Query()
	p := studyPage{Page: 1, Base: "/study?" + identity(q).Encode()}
	err := s.lab.read(func(lab *store.Reader) (err error) {
		if runs, p.Counts, p.Name, err = s.study(lab, q); err != nil {
			return err
		}
		titles, err := lab.StudyTitles()
		p.Heading = titles[q.Get("study")]
		return err
	})
	if err != nil {
		return err
	}
	p.frame = s.frame(r, "studies", p.Name)
	p.Live, p.Study, p.Order = "list", q.Get("study"), orderOf(q, p.Base)
	if n, err := strconv.Atoi(q.Get("page")); err == nil {
		p.Page = n
	}
	if err := s.fillStudy(&p, runs, identity(q)); err != nil {
		return err
	}
	s.write(w, http.StatusOK, "study", p)
	return nil
}

// Pictured reports whether there is a picture of the study.
func (p studyPage) Pictured() bool {
	return len(p.Figures) > 0 || slices.ContainsFunc(p.Judged, func(j judged) bool { return len(j.Drawn) > 0 })
}

func (s *Server) fillStudy(p *studyPage, runs []judge.Run, query url.Values) error {
	rows := listed(runs, time.Now())
	var running []runRow
	for _, row := range rows {
		switch row.Status {
		case store.Running:
			running = append(running, row)
		case store.Failed, store.Interrupted:
			p.Failures = append(p.Failures, row)
		}
	}
	p.Left = p.Counts.left(running)
	p.Order.sort(rows)
	p.Pages = max(1, (len(rows)+perPage-1)/perPage)
	p.Page = min(max(p.Page, 1), p.Pages)
	p.Rows = rows[min(len(rows), (p.Page-1)*perPage):min(len(rows), p.Page*perPage)]
	all, err := s.judge(query, runs)
	for _, j := range all {
		p.Judged = append(p.Judged, judged{j, drawAll(j.Figures, "/study/figures", query)})
	}
	p.Figures = drawAll([]figure.Picture{figure.Grid(runs)}, "/study/figures", query)
	return err
}

// judge judges the runs of a recipe by the recipe, and other training runs by page.Judge; searches are drawn.
func (s *Server) judge(q url.Values, runs []judge.Run) ([]page.Judged, error) {
	if r, scale := recipeOf(q.Get("study")); r != nil {
		judged, err := ofLab(s.lab, func(lab *store.Reader) (page.Judged, error) { return s.repeated(lab, r, scale, runs) })
		return []page.Judged{judged}, err
	}
	var trained []judge.Run
	for _, run := range runs {
		if run.Kind == store.Train {
			trained = append(trained, run)
		}
	}
	all := page.Judge(trained)
	if name := q.Get("study"); name != "" && s.opt.Searches != nil {
		found, err := ofLab(s.lab, func(lab *store.Reader) (page.Judged, error) { return s.searched(lab, name, runs) })
		if err != nil || len(found.Figures) > 0 {
			return append(all, found), err
		}
	}
	return all, nil
}

// studyFigures are the pictures of a study's page.
func (s *Server) studyFigures(r *http.Request) ([]figure.Picture, error) {
	runs, err := ofLab(s.lab, func(lab *store.Reader) ([]judge.Run, error) {
		runs, _, _, err := s.study(lab, r.URL.Query())
		return runs, err
	})
	if err != nil {
		return nil, err
	}
	all, err := s.judge(r.URL.Query(), runs)
	out := []figure.Picture{figure.Grid(runs)}
	for _, j := range all {
		out = append(out, j.Figures...)
	}
	return out, err
}

// PageURL is the address of a page of the list.
func (p studyPage) PageURL(n int) string { return fmt.Sprintf("%s&page=%d", p.Order.URL(), n) }

// Prev and Next are 0 at the ends.
func (p studyPage) Prev() int { return p.Page - 1 }

func (p studyPage) Next() int {
	if p.Page >= p.Pages {
		return 0
	}
	return p.Page + 1
}
