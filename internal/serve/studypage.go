package serve

import (
	"net/http"
	"net/url"
	"time"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/internal/store"
)

// studyPage is one study while it fills.
type studyPage struct {
	frame
	Name     string
	Heading  string // the study's title, if it has one
	Remark   string // what people wrote about it
	Counts   counts
	Left     string
	Found    string // what the claims say, in a sentence
	What     string // was trained
	Judged   []judged
	Figures  []shownFigure // for the whole study
	Failures []runRow
	List     runsList
	Study    string // its name, if it can be controlled
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

// named lists runs, each called what its study calls it.
func named(lab *store.Reader, runs []judge.Run, study string) ([]runRow, error) {
	rows := listed(runs, time.Now())
	if study == "" {
		return rows, nil
	}
	members, err := lab.StudyRuns(study)
	notes := map[string]string{}
	for _, m := range members {
		notes[m.Hash] = m.Note
	}
	for i := range rows {
		if note := notes[rows[i].Hash]; note != "" {
			rows[i].Name = note
		}
	}
	return rows, err
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
	var rows []runRow
	q := r.URL.Query()
	p := studyPage{}
	err := s.lab.read(func(lab *store.Reader) (err error) {
		if runs, p.Counts, p.Name, err = s.study(lab, q); err != nil {
			return err
		}
		if rows, err = named(lab, runs, q.Get("study")); err != nil {
			return err
		}
		titles, err := lab.StudyTitles()
		if err != nil {
			return err
		}
		p.Heading = titles[q.Get("study")]
		p.Remark, err = lab.Remark(q.Get("study"))
		return err
	})
	if err != nil {
		return err
	}
	p.frame = s.frame(r, "studies", p.Name)
	p.Live, p.Study = "list", q.Get("study")
	if err := s.fillStudy(&p, runs, rows, identity(q)); err != nil {
		return err
	}
	p.List = listOf(q, rows, varied(runs))
	s.write(w, http.StatusOK, "study", p)
	return nil
}

// drawn are the figures in order of importance.
func (p studyPage) drawn() (all []shownFigure) {
	for _, j := range p.Judged {
		all = append(all, j.Drawn...)
	}
	return append(all, p.Figures...)
}

// summary is what the card of a study shows of its runs.
type summary struct {
	Found, Picture string // a sentence, and the address of an image
}

// studySummary answers with the inside of a study's card.
func (s *Server) studySummary(w http.ResponseWriter, r *http.Request) error {
	q := identity(r.URL.Query())
	var p studyPage
	runs, err := ofLab(s.lab, func(lab *store.Reader) ([]judge.Run, error) {
		runs, c, _, err := s.study(lab, q)
		p.Counts = c
		return runs, err
	})
	if err != nil {
		return err
	}
	if err := s.fillStudy(&p, runs, nil, q); err != nil {
		return err
	}
	out := summary{Found: p.Found}
	if first := p.First(); first != nil {
		out.Picture = first.URL("svg") + "&show=1&first=1"
		if t := theme(r); t != "" {
			out.Picture += "&theme=" + t
		}
	}
	s.write(w, http.StatusOK, "summary", out)
	return nil
}

// Pictured reports whether there is a picture of the study.
func (p studyPage) Pictured() bool { return len(p.drawn()) > 0 }

// First is the figure beside the claims; nil if there is none.
func (p studyPage) First() *shownFigure {
	if all := p.drawn(); len(all) > 0 {
		return &all[0]
	}
	return nil
}

// Others are the figures below it.
func (p studyPage) Others() []shownFigure {
	all := p.drawn()
	return all[min(1, len(all)):]
}

func (s *Server) fillStudy(p *studyPage, runs []judge.Run, rows []runRow, query url.Values) error {
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
	all, err := s.judge(query, runs)
	var claims []judge.Claim
	for _, j := range all {
		p.Judged = append(p.Judged, judged{j, drawAll(j.Figures, "/study/figures", query)})
		claims = append(claims, j.Claims...)
	}
	on := "these runs"
	if p.Counts.Running+p.Counts.Pending > 0 {
		on = "the runs finished so far"
	}
	p.Found, p.What = page.Tally(claims, on), page.WhatRan(runs)
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
