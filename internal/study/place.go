package study

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"collapse.example/collapse/internal/search"
	"collapse.example/collapse/internal/train"
)

// Place is one combination of the grid, with its search.
type Place struct {
	subject subject
	number  int
	Where   string
	def     *Search
	base    []string      // settings, without those that are searched
	space   []SearchParam // the parameters that have an effect here
	final   []axis        // the grid of the runs on all training samples
	trials  int
}

// Places expands the grid into places.
func (f *File) Places() []*Place {
	var list []*Place
	walkGrid(f.axes, func(settings []string) {
		p := &Place{subject: f.subject, number: len(list), def: f.Search, base: slices.Concat(f.base, settings), final: f.withSeeds(f.Search.final)}
		if len(settings) > 0 {
			p.Where = noteOf(settings)
		}
		for _, param := range f.Search.Space {
			if f.Search.applies(param, p.base, len(f.Search.Space)) {
				p.space = append(p.space, param)
			}
		}
		p.trials = f.Search.trialsIn(f.Search.config(p.space, p.number))
		list = append(list, p)
	})
	return list
}

// applies reports whether a parameter can have an effect in a place: whether the place's settings are those that it needs, and the parameters
// that it needs apply, of which a chain of so many may hang. Conditions on values that are searched are for each trial (search.Need).
func (d *Search) applies(p SearchParam, settings []string, chain int) bool {
	for key, values := range p.When {
		if d.searched(key) {
			needed := d.Space[slices.IndexFunc(d.Space, func(other SearchParam) bool { return other.Name == key })]
			if chain == 0 || !d.applies(needed, settings, chain-1) { // a circle is told when the file is checked
				return false
			}
			continue
		}
		is := ""
		for _, s := range settings {
			if k, v, _ := strings.Cut(s, "="); k == key {
				is = v
			}
		}
		if !slices.Contains(values, is) {
			return false
		}
	}
	return true
}

// Trials is how many there are: those of the file, or all different settings if these are fewer.
func (c *Place) Trials() int { return c.trials }

// Search returns the search of this place.
func (c *Place) Search() (*search.Search, error) {
	config := c.def.config(c.space, c.number)
	config.Trials = c.trials
	return search.New(config)
}

// Takes reports whether a trial could be one of this place: its settings lie in the space, and it stops at a rung.
func (c *Place) Takes(t Trial) bool {
	rungs := []int{c.def.Epochs}
	if c.def.Schedule != search.Full {
		rungs = c.def.config(c.space, c.number).Ladder()
	}
	if t.Place != c.number || !slices.Contains(rungs, t.Epochs) {
		return false
	}
	given := map[string]string{}
	for _, setting := range t.Settings {
		key, value, _ := strings.Cut(setting, "=")
		given[key] = value
	}
	for _, param := range c.space {
		value, has := given[param.Name]
		if has && !param.takes(value) || !has && len(param.When) == 0 {
			return false
		}
		delete(given, param.Name)
	}
	return len(given) == 0
}

// takes reports whether the parameter can have a value.
func (p SearchParam) takes(value string) bool {
	if p.Scale == search.Choice {
		return slices.Contains(p.Values, value)
	}
	x, err := strconv.ParseFloat(value, 64)
	return err == nil && p.Low <= x && x <= p.High && (!p.Whole || x == math.Trunc(x))
}

// Settings returns a point of the search space as settings, without those that have no effect in it.
func (c *Place) Settings(p search.Point) []string {
	var list []string
	space := c.def.config(c.space, c.number).Space
	for i, param := range c.space {
		if space.Active(p, i) {
			list = append(list, param.Name+"="+param.text(p[i]))
		}
	}
	return list
}

// Item turns a run of this place into an item of the study.
func (c *Place) Item(t Trial) (Item, error) {
	t.Place, t.Where = c.number, c.Where
	item, epochs, err := c.subject.trial(c, t)
	if err != nil {
		return Item{}, err
	}
	t.Epochs = epochs
	head, err := json.Marshal(t)
	if err != nil {
		return Item{}, fmt.Errorf("study: %w", err)
	}
	item.Payload = trialMark + string(head) + "\n" + item.Payload
	return item, nil
}

// Default is the configuration with no searched setting, at the full budget.
func (c *Place) Default() (train.Config, error) { return c.Config(Trial{Epochs: c.def.Epochs}) }

// Finals returns the settings in which the runs on all training samples differ.
func (c *Place) Finals() (list [][]string) {
	walkGrid(c.final, func(settings []string) { list = append(list, settings) })
	return list
}

// Config is the configuration of a run of this place. A trial that stops early equals one that does not in everything
// else, including its learning rates.
func (c *Place) Config(t Trial) (train.Config, error) {
	settings := append(slices.Clone(c.base), t.Settings...)
	if t.Role == RoleBest || t.Role == RoleDefaultFinal {
		settings = append(settings, "run.epochs="+strconv.Itoa(c.def.Epochs), "data.validation=0")
		return train.LoadShared(append(settings, t.Final...)...)
	}
	cfg, err := train.LoadShared(append(settings, "run.epochs="+strconv.Itoa(c.def.Epochs))...)
	if err != nil {
		return cfg, err
	}
	cfg.Optim.Schedule = cfg.Resolved().Optim.Schedule
	cfg.Run.Epochs = t.Epochs
	return cfg, nil
}
