// Package trials carries out the search of a study's file (study.Search): it runs the trials, and then the best settings on all
// samples. internal/search decides which settings to try, and how far; Look reads what was found.
package trials

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"collapse.example/collapse/internal/search"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
)

// Run carries out the search of a study's file: it computes what the searches of all its combinations ask for together, passes the
// values back to them, and finally trains the best settings on all samples. What was computed before, in this process or another, is
// taken from the lab: the state of a search is its definition and the finished runs, so it may be killed at any time.
//
// Runs that fail, usually by divergence, count as the worst trials; they do not stop a search.
func Run(ctx context.Context, lab *store.Lab, f *study.File, o coordinator.Options) (coordinator.Summary, error) {
	before, err := lab.StudyRuns(f.Name)
	if err != nil {
		return coordinator.Summary{}, err
	}
	r := &rounds{lab: lab, f: f, memos: make([]search.Memo, len(f.Places()))}
	sure, later := divided(before)
	for first := true; ; first = false {
		if !first { // the user may have cancelled it between two rounds
			if s, err := lab.Study(f.Name); err != nil || s.Cancelled {
				return coordinator.Summary{Runs: s.Runs, Done: s.Counts[store.Done], Failed: s.Counts[store.Failed], Cancelled: s.Cancelled}, err
			}
		}
		if err := r.next(); err != nil {
			return coordinator.Summary{}, err
		}
		if first {
			if study.CodeChanged(before, r.plan.items) {
				sure, later = before, nil
			}
			r.tellDisplaced(sure, o)
			if err := r.plan.unreported(r.lab.Reader, r.f); err != nil {
				return coordinator.Summary{}, err
			}
		}
		s, err := r.execute(ctx, o)
		if err == nil && r.plan.last {
			r.tellDisplaced(later, o)
		}
		if err != nil || s.Cancelled || r.plan.last {
			return s, err
		}
	}
}

// rounds are the rounds of a search: each asks for runs, given the values of those before.
type rounds struct {
	lab   *store.Lab
	f     *study.File
	memos []search.Memo
	plan  *plan // of this round
}

// tellDisplaced says which runs the study had before and has no longer.
func (r *rounds) tellDisplaced(before []store.StudyRun, o coordinator.Options) {
	if words := study.Displaced(r.f.Name, before, r.plan.items, false); words != "" && o.Logf != nil {
		o.Logf("%s", words)
	}
}

// next plans a round and gives the study its runs.
func (r *rounds) next() (err error) {
	if r.plan, err = planOf(r.lab.Reader, r.f, r.memos); err != nil {
		return err
	}
	_, err = study.Save(r.lab, r.f.Name, r.f.Title, r.f.Source, r.plan.items)
	return err
}

// execute computes rounds until the last has ended, or until there is reason to look at the study anew. It stops when the first trial that ends
// has reported no metric.
func (r *rounds) execute(ctx context.Context, o coordinator.Options) (coordinator.Summary, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watch, looked := o.Watch, false
	o.Watch = func(e coordinator.Event) {
		if e.Ended != nil && !e.Ended.Failed && !looked && study.TrialOf(e.Ended.Payload).Role == study.RoleTrial { // runs on all samples hold none out for the metric
			looked = true
			if err := unreported(r.lab.Reader, r.f, e.Ended.Hash); err != nil {
				stop(err)
			}
		}
		if e.Ended != nil && !e.Ended.Failed {
			r.nameMetric(e.Ended)
		}
		if watch != nil {
			watch(e)
		}
	}
	o.More = func() (bool, error) {
		if r.plan.last {
			return false, nil
		}
		return true, r.next()
	}
	s, err := coordinator.Execute(ctx, r.lab, []string{r.f.Name}, o)
	var never *UnreportedError
	if errors.As(context.Cause(ctx), &never) {
		return s, never
	}
	return s, err
}

// plan holds the runs that a search has asked for so far.
type plan struct {
	lab    *store.Reader
	def    *study.Search
	before []store.StudyRun // the study's
	items  []study.Item
	last   bool // nothing will be asked for after these
}

// planOf replays the searches of all combinations with the results in the lab, one per processor at a time. memos, one for each
// combination, is what earlier calls found; nil: there were none.
func planOf(lab *store.Reader, f *study.File, memos []search.Memo) (*plan, error) {
	before, err := lab.StudyRuns(f.Name)
	if err != nil {
		return nil, err
	}
	places := f.Places()
	if memos == nil {
		memos = make([]search.Memo, len(places))
	}
	plans, errs := make([]plan, len(places)), make([]error, len(places))
	var next atomic.Int64
	var replays sync.WaitGroup
	for range min(len(places), runtime.GOMAXPROCS(0)) {
		replays.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(places)); i = next.Add(1) - 1 {
				plans[i] = plan{lab: lab, def: f.Search, before: before, last: true}
				if err := plans[i].place(places[i], &memos[i]); err != nil {
					errs[i] = fmt.Errorf("study %s: place %d: %w", f.Name, i+1, err)
				}
			}
		})
	}
	replays.Wait()
	whole := &plan{lab: lab, def: f.Search, last: true}
	for i, p := range plans {
		if errs[i] != nil {
			return nil, errs[i]
		}
		whole.items, whole.last = append(whole.items, p.items...), whole.last && p.last
	}
	return whole, nil
}

// Foresee says how many finished runs of the lab a search would take as its own, how many it would compute first, and which runs would no
// longer be part of it. *UnreportedError.
func Foresee(lab *store.Reader, f *study.File) (counted, next int, displaced string, err error) {
	before, err := lab.StudyRuns(f.Name)
	if err != nil {
		return 0, 0, "", err
	}
	p, err := planOf(lab, f, nil)
	if err != nil {
		return 0, 0, "", err
	}
	counted, _, next, err = study.Counts(lab, p.items)
	sure, _ := divided(before)
	if study.CodeChanged(before, p.items) {
		sure = before
	}
	displaced = study.Displaced(f.Name, sure, p.items, true)
	return counted, next, displaced, errors.Join(err, p.unreported(lab, f))
}

// place adds the runs of one combination: the default, the trials so far, and, after the last of them, the final ones.
func (p *plan) place(c *study.Place, memo *search.Memo) error {
	if p.def.Compare {
		if _, err := p.add(c, study.Trial{Role: study.RoleDefault, Epochs: p.def.Epochs}); err != nil {
			return err
		}
	}
	s, err := c.Search()
	if err != nil {
		return err
	}
	s.Remember(memo)
	ended := p.ended(c)
	hashes := map[[2]int]string{}  // by trial and epochs
	asked := map[int]study.Trial{} // of each number, the longest
	var failed error
	missing := s.Replay(func(j search.Job) (float64, bool) {
		t := study.Trial{Role: study.RoleTrial, Number: j.Trial, Epochs: j.Budget, Settings: c.Settings(j.Point), From: hashes[[2]int{j.Trial, j.From}]}
		asked[j.Trial] = t
		item, err := p.item(c, t)
		if err != nil {
			failed = err
			return 0, false
		}
		value, known, err := p.value(item.Hash, j.Budget)
		if err == nil && !known {
			if within, has, wrong := p.within(c, t, ended[strings.Join(t.Settings, "\n")]); has || wrong != nil {
				failed = wrong
				return within, has
			}
		}
		if err != nil {
			failed = err
		}
		p.items, hashes[[2]int{j.Trial, j.Budget}] = append(p.items, item), item.Hash
		return value, known
	})
	further, err := p.further(c, asked)
	if err := errors.Join(failed, err); err != nil {
		return err
	}
	if len(missing) > 0 {
		p.last = false
		return nil
	}
	result, best, ok := s.Best()
	if further.known && further.Epochs == p.def.Epochs && (!ok || further.Epochs > result.Budget || further.Epochs == result.Budget && further.value > result.Value) {
		return p.addFinal(c, further.Settings)
	}
	if !ok || result.Budget < p.def.Epochs {
		return nil // no trial that went to the end has a value: there is nothing to train
	}
	return p.addFinal(c, c.Settings(best))
}

// item is a run of a combination as the lab has it.
func (p *plan) item(c *study.Place, t study.Trial) (study.Item, error) {
	item, err := c.Item(t)
	one := []study.Item{item}
	if err == nil {
		err = study.AsItIs(p.lab, one)
	}
	return one[0], err
}

// add adds a run of a combination to the plan and returns its hash.
func (p *plan) add(c *study.Place, t study.Trial) (string, error) {
	item, err := p.item(c, t)
	if err != nil {
		return "", err
	}
	p.items = append(p.items, item)
	return item.Hash, nil
}

// addFinal adds the runs on all training samples: with the best settings, and with the default for comparison.
func (p *plan) addFinal(c *study.Place, best []string) error {
	for _, t := range finalTrials(p.def, c, best) {
		if _, err := p.add(c, t); err != nil {
			return err
		}
	}
	return nil
}

// finalTrials are the runs of a place on all training samples.
func finalTrials(d *study.Search, c *study.Place, best []string) (list []study.Trial) {
	roles := []study.Trial{{Role: study.RoleBest, Settings: best}}
	if d.Compare {
		roles = append(roles, study.Trial{Role: study.RoleDefaultFinal})
	}
	for _, t := range roles {
		for _, t.Final = range c.Finals() {
			list = append(list, t)
		}
	}
	return list
}

// value is a finished run's metric, with the sign that makes larger better; NaN if the run failed.
func (p *plan) value(hash string, epochs int) (v float64, known bool, err error) {
	run, err := p.lab.Run(hash)
	if store.IsNotFound(err) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	switch run.Status {
	case store.Failed:
		return math.NaN(), true, nil
	case store.Done:
		v, err := lastOf(p.lab, hash, p.def.Keys(), epochs)
		return p.signed(v), true, err
	}
	return 0, false, nil
}

// signed is a value of the metric with the sign that makes larger better.
func (p *plan) signed(v float64) float64 {
	if p.def.Goal == study.GoalMin {
		return -v
	}
	return v
}
