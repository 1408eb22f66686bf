package study

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"collapse/internal/search"
	"collapse/train"
)

// Roles of a search's runs.
const (
	RoleTrial        = "trial"
	RoleDefault      = "default"       // the base at the whole budget, to compare trials with
	RoleBest         = "best"          // the best settings on all training samples
	RoleDefaultFinal = "default-final" // the base on all training samples
)

// Trial says what a run is in a search. It stands in the first line of the run's payload.
type Trial struct {
	Place    int      `json:"place"`              // combination of the grid, from 0
	Where    string   `json:"where,omitempty"`    // the combination in words
	Role     string   `json:"role"`               // one of the roles above
	Number   int      `json:"number"`             // of the trial, from 0
	Epochs   int      `json:"epochs"`             // that it trains in all, earlier rungs included
	Settings []string `json:"settings,omitempty"` // "section.key=value" of the space
	Final    []string `json:"final,omitempty"`    // of [search.final]
	From     string   `json:"from,omitempty"`     // the run of the rung before
}

const trialMark = "# trial "

// trialOf reads the first line of a payload; the zero Trial if the run belongs to no search.
func trialOf(payload string) (t Trial) {
	line, _, _ := strings.Cut(payload, "\n")
	text, ok := strings.CutPrefix(line, trialMark)
	if !ok || json.Unmarshal([]byte(text), &t) != nil {
		return Trial{}
	}
	return t
}

// place is a combination of the grid with its search.
type place struct {
	number int
	where  string
	def    *Search
	base   []string      // settings without those that are searched
	space  []SearchParam // that mean something here
	final  []axis        // of the runs on all training samples
}

// places expands the grid.
func (f *File) places() []*place {
	var list []*place
	walkGrid(f.axes, func(settings []string) {
		p := &place{number: len(list), def: f.Search, base: slices.Concat(f.base, settings), final: f.finalAxes()}
		if len(settings) > 0 {
			p.where = noteOf(settings)
		}
		for _, param := range f.Search.Space {
			if param.applies(p.base) {
				p.space = append(p.space, param)
			}
		}
		list = append(list, p)
	})
	return list
}

// finalAxes are what the runs on all samples differ by: [search.final] and the study's seeds.
func (f *File) finalAxes() []axis {
	axes := slices.Clone(f.Search.final)
	if len(f.seeds) > 0 {
		a := axis{key: "run.seed"}
		for _, s := range f.seeds {
			a.values = append(a.values, strconv.FormatUint(s, 10))
		}
		axes = append([]axis{a}, axes...)
	}
	return axes
}

func (p SearchParam) applies(settings []string) bool {
	for key, values := range p.When {
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

func (c *place) search() (*search.Search, error) {
	return search.New(c.def.config(c.space, c.number))
}

// settings are a point as settings.
func (c *place) settings(p searchPoint) []string {
	var list []string
	for i, param := range c.space {
		list = append(list, param.Name+"="+param.text(p[i]))
	}
	return list
}

// add puts a run of this place into a plan and returns its hash.
func (c *place) add(p *plan, t Trial) (string, error) {
	t.Place, t.Where = c.number, c.where
	cfg, err := c.configOf(t)
	if err != nil {
		return "", err
	}
	t.Epochs = cfg.Run.Epochs
	item, err := TrainItem(cfg, t.note())
	if err != nil {
		return "", err
	}
	head, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("study: %w", err)
	}
	item.Payload = trialMark + string(head) + "\n" + item.Payload
	p.items = append(p.items, item)
	return item.Hash, nil
}

// configOf is the configuration of a run. A trial that stops early is in all else one that does not, its
// learning rates included.
func (c *place) configOf(t Trial) (train.Config, error) {
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

// note is "ce, seed 1: trial 3 to epoch 9, lr 0.0123".
func (t Trial) note() string {
	var words []string
	if t.Where != "" {
		words = append(words, t.Where)
	}
	switch t.Role {
	case RoleTrial:
		words = append(words, fmt.Sprintf("trial %d to epoch %d", t.Number+1, t.Epochs))
	case RoleBest:
		words = append(words, "best on all samples")
	case RoleDefaultFinal:
		words = append(words, "default on all samples")
	default:
		words = append(words, t.Role)
	}
	words = append(words, InWords(slices.Concat(t.Settings, t.Final))...)
	return strings.Join(words, ", ")
}

// shortSetting writes "optim.lr=0.0123456" as "lr 0.01235".
func shortSetting(s string) string {
	key, value, _ := strings.Cut(s, "=")
	if x, err := strconv.ParseFloat(value, 64); err == nil {
		value = strconv.FormatFloat(x, 'g', 4, 64)
	}
	return key[strings.LastIndexByte(key, '.')+1:] + " " + strings.Trim(value, `"`)
}

// InWords writes settings shortly, such as "lr 0.01235".
func InWords(settings []string) []string {
	var words []string
	for _, s := range settings {
		words = append(words, shortSetting(s))
	}
	return words
}
