package serve

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/question"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
)

// recipeOf finds the recipe whose runs a study has, and their scale: `collapse reproduce` names its studies ID.SCALE. Searches have
// their own pages.
func recipeOf(study string) (r *recipe.Recipe, scale string) {
	id, scale, ok := strings.Cut(study, ".")
	if !ok || !slices.Contains(recipe.Scales, scale) || !recipe.Trains(id) {
		return nil, ""
	}
	r, err := recipe.Load(id)
	if err != nil || r.Search != nil {
		return nil, ""
	}
	return r, scale
}

// repeated is what the finished runs of a recipe's study show so far, with the recipe's figures.
func (s *Server) repeated(lab *store.Reader, r *recipe.Recipe, scale string, runs []judge.Run) ([]findings.Judged, error) {
	done, stamp := finished(runs)
	return s.verdicts.get("recipe "+r.ID+"."+scale, stamp, func() ([]findings.Judged, error) {
		loaded, err := onDemand(lab, done)
		if err != nil {
			return nil, err
		}
		of, err := findings.OfRecipe(r, recipe.Choice{Scale: scale}, loaded)
		if err != nil {
			return nil, err
		}
		found, err := of.Judge()
		return []findings.Judged{found.SoFar()}, err
	})
}

// asked judges the claims and draws the drawings of a study's own file; nothing if it has none that can be read.
func (s *Server) asked(lab *store.Reader, name string, runs []judge.Run) ([]findings.Judged, error) {
	of, err := lab.Study(name)
	if err != nil {
		return nil, err
	}
	questions, err := question.Parse(of.Source)
	if err != nil || !questions.Any() {
		return nil, nil
	}
	ended, stamp := finished(runs, store.Failed) // a table has lines of settings that failed
	return s.verdicts.get("asked "+name+" "+of.Source, stamp, func() ([]findings.Judged, error) {
		loaded, err := onDemand(lab, ended)
		if err != nil {
			return nil, err
		}
		found, err := findings.Recipe{ID: "own", Source: "What the study asks", Runs: loaded, Claims: questions.Claims, Drawings: questions.Drawings, Tables: questions.Tables}.Judge()
		judged := found.SoFar()
		judged.Claims = findings.AskedBy(judged.Claims)
		return []findings.Judged{judged}, err
	})
}

// together draws finished runs in groups by a setting that the study varies, as the page of groups does: their last values against it, what was
// measured or reported against epoch, and at the end by its two settings, if there are two. Runs of the program have other pictures first, if
// they have any.
func (s *Server) together(lab *store.Reader, name string, runs []judge.Run, pictured bool) ([]findings.Judged, error) {
	done, stamp := finished(runs)
	if len(done) == 0 || done[0].Kind != store.Script && (pictured || len(done) < 2) {
		return nil, nil
	}
	return s.verdicts.get("together "+name, stamp, func() ([]findings.Judged, error) {
		loaded, err := onDemand(lab, done)
		if err != nil {
			return nil, err
		}
		groups, by := figure.ByOneSetting(regular(loaded))
		pictures := []figure.Picture{figure.GroupCurves(groups), figure.SettingsMap(loaded)}
		if done[0].Kind == store.Train {
			pictures = []figure.Picture{figure.AgainstSetting(groups, by), figure.GroupCurves(groups)}
		}
		var out findings.Judged
		for _, p := range pictures {
			if len(p.Panels) > 0 {
				out.Figures = append(out.Figures, p)
			}
		}
		return []findings.Judged{out}, judge.ReadError(loaded)
	})
}

// regular are the runs without degenerate ones, which are left out of all means, unless all are.
func regular(runs []judge.Run) []judge.Run {
	kept := slices.DeleteFunc(slices.Clone(runs), func(r judge.Run) bool {
		return r.Kind != store.Script && slices.Contains(r.States(), judge.Degenerate)
	})
	if len(kept) == 0 {
		return runs
	}
	return kept
}

// mostSearches is how many searches of a study a page has a sentence for.
const mostSearches = 12

// searched draws the searches of a study and says what they found, once a trial has ended.
func (s *Server) searched(lab *store.Reader, name string, runs []judge.Run) ([]findings.Judged, error) {
	done, stamp := finished(runs)
	return s.verdicts.get("search "+name, stamp, func() ([]findings.Judged, error) {
		found, err := s.opt.Searches(lab, name)
		if err != nil || !slices.ContainsFunc(found, judge.Search.Begun) {
			return nil, err
		}
		loaded, err := onDemand(lab, done)
		if err != nil {
			return nil, err
		}
		figures := figure.OfSearches("search", found, loaded)
		var words []string
		for _, f := range found[:min(len(found), mostSearches)] {
			words = append(words, figure.FoundBySearch(f))
		}
		return []findings.Judged{{Figures: figures, Notes: words}}, judge.ReadError(loaded)
	})
}

// onDemand are runs of which only the measures that are shown will be read.
func onDemand(lab *store.Reader, rows []store.Run) ([]judge.Run, error) {
	hashes := make([]string, len(rows))
	for i, row := range rows {
		hashes[i] = row.Hash
	}
	return judge.LoadOnDemand(lab, hashes...)
}

// finished are the runs that are done, or of another of the given statuses, and a number that changes as soon as another one is.
func finished(runs []judge.Run, also ...store.Status) (done []store.Run, stamp uint64) {
	sum, line := fnv.New64a(), []byte{}
	for _, run := range runs {
		if run.Status == store.Done || slices.Contains(also, run.Status) {
			done = append(done, run.Run)
			sum.Write(fmt.Appendln(line[:0], run.Hash, run.Generation, run.Finished.UnixMilli()))
		}
	}
	return done, sum.Sum64()
}

// mostVerdicts bounds how many studies' verdicts and figures are kept.
const mostVerdicts = 16

// verdicts caches what the finished runs of studies show until another one has ended.
type verdicts struct {
	mu    sync.Mutex // held while one is made; concurrent requests wait for it
	known map[string]keptVerdicts
}

type keptVerdicts struct {
	stamp  uint64
	judged []findings.Judged
}

func (k *verdicts) get(study string, stamp uint64, make func() ([]findings.Judged, error)) ([]findings.Judged, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, ok := k.known[study]; ok && old.stamp == stamp {
		return old.judged, nil
	}
	judged, err := make()
	if err != nil {
		return nil, err
	}
	if len(k.known) >= mostVerdicts {
		clear(k.known)
	}
	k.known[study] = keptVerdicts{stamp, judged}
	return judged, nil
}
