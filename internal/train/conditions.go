package train

import (
	"slices"
	"strings"
	"sync"

	"collapse.example/collapse/internal/kinds"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/optim"
)

// condition says where a key has an effect. Elsewhere it must be at its default, unless it is tolerated: then it is part of the
// identity, because it once was.
type condition struct {
	text      string // as in "net.kind = resnet18"
	holds     func(*Config) bool
	tolerated func(*Config) bool // nil: nowhere
}

// has reports whether the field has an effect in c.
func (f field) has(c *Config) bool { return f.only.holds == nil || f.only.holds(c) }

// applies reports whether the field may differ from its default in c, and is part of its identity.
func (f field) applies(c *Config) bool {
	return f.has(c) || f.only.tolerated != nil && f.only.tolerated(c)
}

// Unused is a key without effect: no run of the configuration reads it.
type Unused struct {
	Key   string // "loss.smoothing"
	Needs string // where it would have an effect: "loss.kind = ls or lr"
}

// Unused lists the keys without effect in c, whatever their values. Check refuses most of them if they differ from their default;
// commands refuse all of them if the user names one.
func (c Config) Unused() []Unused {
	var list []Unused
	for _, f := range c.fields() {
		if !f.has(&c) {
			list = append(list, Unused{Key: f.key, Needs: f.only.text})
		}
	}
	return list
}

// Kinds lists the kinds that a key can choose from: "net.kind", "loss.kind" or "optim.kind"; nil for any other key. The settings in
// Uses are keys of the same section.
func Kinds(key string) []nn.Kind {
	for _, s := range sections {
		if s.key == key {
			return s.kinds()
		}
	}
	return nil
}

// sections are the sections in which a kind is chosen.
var sections = []struct {
	key    string
	kinds  func() []nn.Kind
	chosen func(*Config) string
}{
	{"net.kind", nn.Networks, func(c *Config) string { return c.Net.Kind }},
	{"loss.kind", nn.Losses, func(c *Config) string { return c.Loss.Kind }},
	{"optim.kind", optim.Kinds, func(c *Config) string { return c.Optim.Kind }},
}

// tolerated are keys that configurations could always contain although their kind does not use them.
var tolerated = []string{"net.feature_dim", "loss.smoothing", "loss.alpha", "loss.m", "loss.reduction"}

// kindConditions says, for each setting that only some kinds use, which kinds these are.
var kindConditions = sync.OnceValue(func() map[string]condition {
	conditions := map[string]condition{}
	for _, s := range sections {
		users := map[string][]nn.Kind{}
		for _, kind := range s.kinds() {
			for _, setting := range kind.Uses {
				key := strings.TrimSuffix(s.key, "kind") + setting
				users[key] = append(users[key], kind)
			}
		}
		for key, with := range users {
			names := kinds.Names(with)
			c := condition{text: s.key + " = " + kinds.InWords(with), holds: func(c *Config) bool { return slices.Contains(names, s.chosen(c)) }}
			if slices.Contains(tolerated, key) {
				c.tolerated = func(*Config) bool { return true }
			}
			conditions[key] = c
		}
	}
	return conditions
})

// reads reports whether the chosen kind of network, loss or optimiser uses a setting that not every kind uses.
func (c Config) reads(key string) bool {
	users, some := kindConditions()[key]
	return some && users.holds(&c)
}

// byKind adds the conditions of settings that only some kinds use.
func byKind(fields []field) []field {
	conditions := kindConditions()
	for i, f := range fields {
		if c, some := conditions[f.key]; some {
			fields[i].only = c
		}
	}
	return fields
}

// forSchedule is the condition of keys for schedules of the given kinds. A constant rate has always allowed the keys of step, and
// they are part of the identity of its runs.
func forSchedule(kinds ...string) condition {
	chosen := func(c *Config) bool { return slices.Contains(kinds, c.Optim.Schedule.Kind) }
	c := condition{text: "optim.schedule.kind = " + strings.Join(kinds, " or "), holds: chosen}
	if slices.Contains(kinds, "step") {
		c.tolerated = func(c *Config) bool { return c.Optim.Schedule.Kind == "constant" }
	}
	return c
}

func kindTitles(kinds []nn.Kind) string {
	var titles []string
	for _, k := range kinds {
		titles = append(titles, k.Title)
	}
	return strings.Join(titles, ", ")
}
