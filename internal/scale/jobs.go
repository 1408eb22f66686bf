package scale

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/trials"
	"collapse.example/collapse/internal/train"
)

// job is a run of a plan.
type job struct {
	likeness string
	flop     float64
	rate     Rate
	engine   string // that computes it, if it is not this program itself
	memory   int64
	repeated bool         // it may evaluate a batch several times per step
	state    store.Status // in the lab; "": not there
}

// ChoiceError says that a recipe cannot be computed as chosen.
type ChoiceError struct{ cause error }

func (e *ChoiceError) Error() string { return e.cause.Error() }

func (e *ChoiceError) Unwrap() error { return e.cause }

// BadChoice makes a ChoiceError of an error; nil stays nil.
func BadChoice(err error) error {
	if err == nil {
		return nil
	}
	return &ChoiceError{err}
}

// rounds are the jobs of a recipe: those of one round run side by side; for a grid all do.
func (p *Planner) rounds(r *recipe.Recipe, choice recipe.Choice) (rounds [][]job, notes []string, err error) {
	stretches, study, err := p.stretches(r, choice)
	if err != nil {
		return nil, nil, &ChoiceError{err}
	}
	seen := map[string]bool{}
	for _, round := range stretches {
		var jobs []job
		for _, s := range round {
			j, err := p.job(s)
			if err != nil {
				return nil, nil, err
			}
			if r.Search != nil { // the settings it will try are not known: no two runs are equal
				j.likeness = fmt.Sprint(r.ID, len(seen))
			}
			if !seen[j.likeness] {
				seen[j.likeness] = true
				jobs = append(jobs, j)
			}
		}
		rounds = append(rounds, jobs)
	}
	if r.Search != nil {
		notes, err = p.searched(study)
		return rounds, notes, err
	}
	notes, err = p.look(stretches[0], rounds[0])
	return rounds, notes, err
}

// stretches lists the runs of a recipe, and the name of its study.
func (p *Planner) stretches(r *recipe.Recipe, choice recipe.Choice) (rounds [][]trials.Stretch, name string, err error) {
	if r.Search != nil {
		f, err := SearchFile(r, choice)
		if err != nil {
			return nil, "", err
		}
		rounds, err = trials.Rounds(f)
		return rounds, f.Name, err
	}
	runs, err := p.grid(r, choice)
	if err != nil {
		return nil, "", err
	}
	var all []trials.Stretch
	for _, run := range runs {
		all = append(all, trials.Stretch{Config: run.Config})
	}
	return [][]trials.Stretch{all}, r.ID + "." + choice.Scale, nil
}

// grid returns the runs of a recipe that does not search. If a search that provides settings has not ended, the recipe's own are used instead.
func (p *Planner) grid(r *recipe.Recipe, choice recipe.Choice) ([]recipe.Run, error) {
	if p.Found != nil && r.Source(choice) != nil {
		if found, err := p.Found(r); err != nil || found != nil {
			return r.Expand(choice, found)
		}
	}
	return r.Foresee(choice)
}

// SearchFile is the study of a recipe that searches.
func SearchFile(r *recipe.Recipe, choice recipe.Choice) (*study.File, error) {
	name := r.ID + "." + choice.Scale
	if choice.Preset != "" {
		name += "." + choice.Preset
	}
	text, err := r.SearchFile(name, choice)
	if err != nil {
		return nil, err
	}
	return study.ParseFile(name+".toml", text, nil, 0)
}

// job predicts a run, or what is left of it after an earlier one.
func (p *Planner) job(s trials.Stretch) (job, error) {
	o, err := p.outlook(s.Config)
	if err != nil {
		return job{}, err
	}
	j := job{likeness: train.Likeness(s.Config), flop: o.MostFLOP(), rate: rateOf(o.Arch), memory: o.Memory.Total(), repeated: o.Evaluations > 1}
	if s.Config.External() {
		j.engine = s.Config.Run.Engine
	}
	if s.From > 0 {
		before := s.Config
		before.Run.Epochs = s.From
		b, err := p.outlook(before)
		if err != nil {
			return job{}, err
		}
		j.flop -= b.MostFLOP()
	}
	return j, nil
}

// outlook predicts a run, once per shape; from its files if a data set has no official size.
func (p *Planner) outlook(c train.Config) (train.Outlook, error) {
	if p.outlooks == nil {
		p.outlooks = map[string]train.Outlook{}
	}
	key := train.Shape(c)
	if o, ok := p.outlooks[key]; ok {
		return o, nil
	}
	o, err := train.ForeseeOfficial(c)
	if err != nil {
		var opened error
		if o, opened = train.Foresee(c, study.OpenSet); opened != nil {
			return o, err
		}
	}
	p.outlooks[key] = o
	return o, nil
}

// look finds out which runs of a grid the lab has. A run is identified by its data, so this stays open if the data are not available.
func (p *Planner) look(stretches []trials.Stretch, jobs []job) (notes []string, err error) {
	if p.Lab == nil {
		return nil, nil
	}
	states, absent := map[string]store.Status{}, []string(nil)
	for _, s := range stretches {
		likeness := train.Likeness(s.Config)
		if _, known := states[likeness]; known || slices.Contains(absent, s.Config.Data.Name) {
			continue
		}
		hash, _, err := train.Identify(s.Config, study.OpenSet)
		var missing *data.MissingError
		if errors.As(err, &missing) {
			absent = append(absent, s.Config.Data.Name)
			continue
		}
		if err != nil {
			return nil, err
		}
		run, err := p.Lab.Run(hash)
		if err != nil && !store.IsNotFound(err) {
			return nil, err
		}
		states[likeness] = run.Status
	}
	for i := range jobs {
		jobs[i].state = cmp.Or(states[jobs[i].likeness], jobs[i].state)
	}
	if len(absent) > 0 {
		notes = append(notes, fmt.Sprintf("Not at hand: %s. Which of their runs the lab has cannot be told; sizes are the official ones.", strings.Join(absent, ", ")))
	}
	return notes, nil
}

// searched says what the lab has of a search. Its settings depend on its results, so its runs are not distinguished here.
func (p *Planner) searched(name string) (notes []string, err error) {
	notes = []string{"A search: counted are the trials that its schedule goes on with, and the runs on all samples; a round waits for the one before."}
	if p.Lab == nil {
		return notes, nil
	}
	s, err := p.Lab.Study(name)
	var none *store.StudyNotFoundError
	if errors.As(err, &none) {
		return notes, nil
	}
	if done := s.Counts[store.Done]; err == nil && done > 0 {
		notes = append(notes, fmt.Sprintf("The lab has %s of this search; what is left is not told apart.", format.Count(done, "run")))
	}
	return notes, err
}
