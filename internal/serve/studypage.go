package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
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
	findings.Judged
	Drawn  []shownFigure
	Filled []shownTable
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

// studyAsked reads the study that a request names.
func (s *Server) studyAsked(q url.Values) (studyRuns, error) {
	return ofLab(s.lab, func(lab *store.Reader) (studyRuns, error) { return s.study(lab, q) })
}

func (s *Server) studyPage(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	found, err := s.studyAsked(q)
	if err != nil {
		return err
	}
	p := studyPage{frame: s.frame(r, "studies", found.name), Name: found.name, Heading: found.title, Remark: found.remark, Study: q.Get("study")}
	p.Live = "list"
	if err := s.fillStudy(&p, found, identity(q)); err != nil {
		return err
	}
	p.List = listOf(q, found.rows, found.varied, found.own...)
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
	found, err := s.studyAsked(q)
	if err != nil {
		return err
	}
	var p studyPage
	if err := s.fillStudy(&p, found, q); err != nil {
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

func (s *Server) fillStudy(p *studyPage, found studyRuns, query url.Values) error {
	p.Counts = found.counts
	var running []runRow
	for _, row := range found.rows {
		switch row.Status {
		case store.Running:
			running = append(running, row)
		case store.Failed, store.Interrupted:
			p.Failures = append(p.Failures, row)
		}
	}
	p.Left = p.Counts.left(running)
	all, err := s.judge(query, found.runs)
	var claims []judge.Claim
	for _, j := range all {
		p.Judged = append(p.Judged, judged{j, drawAll(j.Figures, "/study/figures", query), showTables(j.Tables, query)})
		claims = append(claims, j.Claims...)
	}
	on := "these runs"
	if p.Counts.Running+p.Counts.Pending > 0 {
		on = "the runs finished so far"
	}
	p.Found, p.What = found.say(claims, findings.Tally(claims, on)), findings.WhatRan(found.runs, claims)
	p.Figures = drawAll([]figure.Picture{found.grid}, "/study/figures", query)
	return err
}

// say is the first sentence about a study whose verdicts are tallied: while runs are missing, what is missing is not more seeds.
func (f studyRuns) say(claims []judge.Claim, tally string) string {
	c := f.counts
	if c.Running+c.Pending+c.Interrupted == 0 {
		return tally
	}
	undecided := judge.BySource{Claims: claims}.Count(judge.CannotTell) == len(claims)
	switch {
	case f.cancelled && undecided:
		return fmt.Sprintf("Cancelled with %d of %d runs done.", c.Done, c.Total)
	case f.cancelled:
		return fmt.Sprintf("Cancelled with %d of %d runs done. %s", c.Done, c.Total, tally)
	case undecided && len(claims) > 0:
		return fmt.Sprintf("No verdict yet: %d of %d runs.", c.Done, c.Total)
	}
	return tally
}

// judge judges the runs of a recipe by the recipe, others by the claims of their study, and training runs by findings.Judge, too; searches are
// drawn.
func (s *Server) judge(q url.Values, runs []judge.Run) ([]findings.Judged, error) {
	name := q.Get("study")
	if r, scale := recipeOf(name); r != nil {
		return ofLab(s.lab, func(lab *store.Reader) ([]findings.Judged, error) { return s.repeated(lab, r, scale, runs) })
	}
	trained := slices.DeleteFunc(slices.Clone(runs), func(run judge.Run) bool { return run.Kind != store.Train })
	_, stamp := finished(trained)
	all, err := s.verdicts.get(identity(q).Encode(), stamp, func() ([]findings.Judged, error) { return findings.Judge(trained), nil })
	if err != nil || name == "" {
		return all, err
	}
	own, err := ofLab(s.lab, func(lab *store.Reader) ([]findings.Judged, error) { return s.asked(lab, name, runs) })
	if err != nil {
		return nil, err
	}
	var found []findings.Judged
	if s.opt.Searches != nil {
		if found, err = ofLab(s.lab, func(lab *store.Reader) ([]findings.Judged, error) { return s.searched(lab, name, runs) }); err != nil {
			return nil, err
		}
	}
	if all = slices.Concat(own, all); len(found) > 0 { // trials end at different epochs: a mean over them is of ever fewer
		return slices.Concat(all, found), nil
	}
	pictured := slices.ContainsFunc(all, func(j findings.Judged) bool { return len(j.Figures) > 0 })
	together, err := ofLab(s.lab, func(lab *store.Reader) ([]findings.Judged, error) { return s.together(lab, name, runs, pictured) })
	return slices.Concat(all, together), err
}

// studyFigures are the pictures of a study's page.
func (s *Server) studyFigures(r *http.Request) ([]figure.Picture, error) {
	found, err := s.studyAsked(r.URL.Query())
	if err != nil {
		return nil, err
	}
	all, err := s.judge(r.URL.Query(), found.runs)
	out := []figure.Picture{found.grid}
	for _, j := range all {
		out = append(out, j.Figures...)
	}
	return out, err
}
