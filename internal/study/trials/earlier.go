package trials

import (
	"fmt"
	"math"
	"strings"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

// divided parts the runs of a study by when it is known whether they stay: finished trials do, or never will, once a round is planned, and others
// may be asked for later.
func divided(before []store.StudyRun) (sure, later []store.StudyRun) {
	for _, r := range before {
		if r.Status == store.Done && study.TrialOf(r.Payload).Role == study.RoleTrial {
			sure = append(sure, r)
		} else {
			later = append(later, r)
		}
	}
	return sure, later
}

// unreported returns an *UnreportedError if a finished trial of the plan, whichever study computed it, has not one value of the search's metric.
func (p *plan) unreported(lab *store.Reader, f *study.File) error {
	for _, it := range p.items {
		if study.TrialOf(it.Payload).Role != study.RoleTrial {
			continue
		}
		run, err := lab.Run(it.Hash)
		if err != nil && !store.IsNotFound(err) {
			return err
		}
		if err == nil && run.Status == store.Done {
			return unreported(lab, f, it.Hash)
		}
	}
	return nil
}

// ended are the finished trials that the study has of a combination, by their settings.
func (p *plan) ended(c *study.Place) map[string][]store.StudyRun {
	all := map[string][]store.StudyRun{}
	for _, r := range p.before {
		if t := study.TrialOf(r.Payload); r.Status == store.Done && t.Role == study.RoleTrial && c.Takes(t) {
			key := strings.Join(t.Settings, "\n")
			all[key] = append(all[key], r)
		}
	}
	return all
}

// within is the value of a trial at a rung that one of its finished runs went past: where more trials were added, a trial may begin at another
// rung than before, and its first epochs are those of the longer run. NaN: no number was reported there.
func (p *plan) within(c *study.Place, t study.Trial, ended []store.StudyRun) (v float64, has bool, err error) {
	for _, r := range ended {
		longer := t
		if longer.Epochs = study.TrialOf(r.Payload).Epochs; longer.Epochs <= t.Epochs {
			continue
		}
		item, err := p.item(c, longer)
		if err != nil {
			return 0, false, err
		}
		if item.Hash != r.Hash { // of other code
			continue
		}
		points, err := firstOf(p.lab, r.Hash, p.def.Keys())
		if err != nil {
			return 0, false, err
		}
		for _, point := range points {
			if point.Step != int64(t.Epochs) {
				continue
			}
			if point.Missing != "" {
				return math.NaN(), true, nil
			}
			return p.signed(point.Value), true, nil
		}
	}
	return 0, false, nil
}

// earlier is a trial that the study has computed before, and its value.
type earlier struct {
	study.Trial
	value float64
	known bool
}

// further keeps the finished runs that the study has of trials which the search, as it is now, does not ask for, or not for so many epochs: after
// more trials were added, brackets and proposals are others. It returns the best of those that went furthest.
func (p *plan) further(c *study.Place, asked map[int]study.Trial) (best earlier, err error) {
	numbers := map[string]int{} // by settings; those of trials that are not asked for come after the others
	for n, t := range asked {
		numbers[strings.Join(t.Settings, "\n")] = n
	}
	there, next := map[string]bool{}, p.def.Trials
	for _, it := range p.items {
		there[it.Hash] = true
	}
	for _, r := range p.before {
		t := study.TrialOf(r.Payload)
		if r.Status != store.Done || t.Role != study.RoleTrial || !c.Takes(t) || there[r.Hash] {
			continue
		}
		settings, known := strings.Join(t.Settings, "\n"), false
		if t.Number, known = numbers[settings]; !known {
			t.Number, numbers[settings] = next, next
		}
		item, err := p.item(c, t)
		if err != nil {
			return best, err
		}
		if item.Hash != r.Hash { // of other code
			continue
		}
		if t.Number == next { // a number that it never had
			item.Note = strings.Replace(item.Note, fmt.Sprintf("trial %d to", t.Number+1), "earlier trial to", 1)
			next++
		}
		p.items = append(p.items, item)
		value, known, err := p.value(item.Hash, t.Epochs)
		if err != nil {
			return best, err
		}
		if known && !math.IsNaN(value) && (!best.known || t.Epochs > best.Epochs || t.Epochs == best.Epochs && value > best.value) {
			best = earlier{t, value, true}
		}
	}
	return best, nil
}
