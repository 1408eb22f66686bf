package serve

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
)

// mostCompared bounds how many runs are compared.
const mostCompared = 8

// comparePage compares runs, their differences first.
type comparePage struct {
	frame
	Runs        []runRow
	Differences []judge.Difference
	Code        []script.FileDiff // of two runs of scripts
	Same        []setting
	Figures     []shownFigure
	Rest        *shownFigure
	Offered     []runRow // to choose from, while none is chosen
	Say         string   // why fewer runs are shown than were chosen, or none; which names mean no run
}

// compared loads the first runs that a query names, and counts them all; a run named twice counts once. unknown says which names match
// no run, or several.
func (s *Server) compared(q url.Values) (out []judge.Run, chosen int, unknown []string, err error) {
	seen := map[string]bool{}
	err = s.lab.read(func(lab *store.Reader) error {
		for _, prefix := range q["run"] {
			row, err := lab.Find(prefix)
			if words := notOneRun(prefix, err); words != "" {
				unknown = append(unknown, words)
				continue
			}
			if err != nil {
				return err
			}
			if seen[row.Hash] {
				continue
			}
			seen[row.Hash] = true
			if chosen++; chosen > mostCompared {
				continue
			}
			run, err := s.cache.load(lab, row)
			if err != nil {
				return err
			}
			out = append(out, run)
		}
		return nil
	})
	return out, chosen, unknown, err
}

// notOneRun says that a name matches no run of the lab, or several; "" for any other error.
func notOneRun(prefix string, err error) string {
	var missing *store.NotFoundError
	var ambiguous *store.AmbiguousError
	switch {
	case errors.As(err, &missing):
		return fmt.Sprintf("The lab has no run %s.", clip(prefix))
	case errors.As(err, &ambiguous):
		return fmt.Sprintf("Several runs start with %s; give more digits.", clip(prefix))
	}
	return ""
}

func (s *Server) comparePage(w http.ResponseWriter, r *http.Request) error {
	if r.URL.Query().Get("by") != "" {
		return s.groupsPage(w, r)
	}
	runs, chosen, unknown, err := s.compared(r.URL.Query())
	if err != nil {
		return err
	}
	if name := r.URL.Query().Get("study"); name != "" {
		if err := s.lab.read(func(lab *store.Reader) error { _, err := lab.Study(name); return err }); err != nil {
			return notFound("%v", err)
		}
	}
	p := comparePage{frame: s.frame(r, "compare", "Compare")}
	switch {
	case chosen == 1:
		p.Say = "One run is chosen. Choose another to compare it with."
	case chosen > mostCompared:
		p.Say = fmt.Sprintf("%d runs are chosen. These are the first %d, as many as one picture can distinguish.", chosen, mostCompared)
	}
	p.Say = strings.TrimSpace(strings.Join(unknown[:min(len(unknown), mostCompared)], " ") + " " + p.Say)
	p.Live = "list"
	if len(runs) < 2 {
		if p.Offered, err = ofLab(s.lab, s.offered); err != nil {
			return err
		}
		s.write(w, http.StatusOK, "compare", p)
		return nil
	}
	p.compare(runs)
	if err := s.diffCode(&p, runs); err != nil {
		return err
	}
	query := url.Values{}
	for _, run := range runs {
		query.Add("run", run.Hash)
	}
	p.Figures, p.Rest = curves(follows(r), runs, "/compare/figures", query)
	s.write(w, http.StatusOK, "compare", p)
	return nil
}

// diffCode has the page show in which lines the code of two scripts differs, instead of its digests.
func (s *Server) diffCode(p *comparePage, runs []judge.Run) error {
	if len(runs) != 2 || runs[0].Kind != store.Script || runs[1].Kind != store.Script {
		return nil
	}
	var code [2]map[string]string
	err := s.lab.read(func(lab *store.Reader) (err error) {
		for i := range runs {
			if code[i], err = script.CodeOf(lab.RunDir(runs[i].Hash), runs[i].Config); err != nil {
				return err
			}
		}
		return nil
	})
	p.Code = script.DiffCode(code[0], code[1])
	p.Differences = slices.DeleteFunc(p.Differences, func(d judge.Difference) bool { return strings.HasPrefix(d.Key, "trainer.code.") })
	return err
}

// Listed are the compared runs, those of scripts with what they reported.
func (p comparePage) Listed() runsList {
	l := plainList(p.Runs)
	if slices.ContainsFunc(p.Runs, func(r runRow) bool { return r.Kind != store.Script }) {
		return l
	}
	for _, r := range p.Runs {
		for _, k := range r.OwnKeys() {
			if !slices.Contains(l.Own, k) {
				l.Own = append(l.Own, k)
			}
		}
	}
	judge.SortOwn(l.Own)
	l.Own = l.Own[:min(len(l.Own), mostListed)]
	return l
}

// offered lists runs to choose from.
func (s *Server) offered(lab *store.Reader) ([]runRow, error) {
	rows, err := lab.List(store.Filter{Limit: 60, Kinds: []store.Kind{store.Train, store.Script}})
	if err != nil {
		return nil, err
	}
	return s.mixed(lab, rows)
}

// compare shows runs side by side.
func (p *comparePage) compare(runs []judge.Run) {
	p.Runs = listed(runs, time.Now())
	p.Differences = judge.Differences(runs)
	differ := map[string]bool{}
	for _, d := range p.Differences {
		differ[d.Key] = true
	}
	for _, key := range judge.SettingKeys(runs[0]) {
		if !differ[key] {
			p.Same = append(p.Same, setting{key, runs[0].Settings[key]})
		}
	}
}

func (s *Server) compareFigures(r *http.Request) ([]figure.Picture, error) {
	if r.URL.Query().Get("by") != "" {
		found, err := s.grouped(r.URL.Query())
		return found.pictures(r.URL.Query().Get("by")), err
	}
	runs, _, _, err := s.compared(r.URL.Query())
	if err != nil {
		return nil, err
	}
	return curvesAsked(r, runs), nil
}
