package serve

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/spelling"
	"collapse.example/collapse/internal/store"
)

// mostOffered is how many values of a setting a list offers to choose from; a setting with more can still be named in the address.
const mostOffered = 24

// filter chooses the runs of a list: those with given values of settings (?data.noise=0.2&data.noise=0.4: either), in a state
// (?state=degenerate), with some text in their names (?find=seed 3).
type filter struct {
	values map[string][]string // by setting
	state  string
	find   string
}

// notSettings are the names in the address of a list that mean something else. A setting of a script with such a name has ownMark before it.
var notSettings = []string{"study", "tag", "kind", "sort", "page", "run", "state", "find", "by", "hide", "zoom", "y", "smooth"}

// ownMark begins the names of such settings in an address.
const ownMark = "setting."

// named is a setting in an address.
func named(key string) string {
	if slices.Contains(notSettings, key) {
		return ownMark + key
	}
	return key
}

// filterOf reads a filter from an address. Every name that means nothing else is taken for a setting.
func filterOf(q url.Values) filter {
	f := filter{values: map[string][]string{}, state: q.Get("state"), find: strings.TrimSpace(q.Get("find"))}
	for key, values := range q {
		values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
		if slices.Contains(notSettings, key) || len(values) == 0 {
			continue
		}
		if own, marked := strings.CutPrefix(key, ownMark); marked && slices.Contains(notSettings, own) {
			key = own
		}
		f.values[key] = values
	}
	return f
}

// on says that the filter may leave runs out.
func (f filter) on() bool { return len(f.values) > 0 || f.state != "" || f.find != "" }

// query is the filter as part of an address.
func (f filter) query() url.Values {
	q := url.Values{}
	for key, values := range f.values {
		q[named(key)] = values
	}
	for key, value := range map[string]string{"state": f.state, "find": f.find} {
		if value != "" {
			q.Set(key, value)
		}
	}
	return q
}

// listQuery is the part of an address that says which runs of which study are meant.
func listQuery(q url.Values) url.Values {
	out := identity(q)
	maps.Copy(out, filterOf(q).query())
	return out
}

func (f filter) takes(r *runRow) bool {
	for key, values := range f.values {
		if !slices.Contains(values, r.Settings[key]) {
			return false
		}
	}
	return (f.state == "" || slices.Contains(statesOf(r), f.state)) && strings.Contains(strings.ToLower(r.Name), strings.ToLower(f.find))
}

// statesOf are the words by which a run can be chosen.
func statesOf(r *runRow) []string {
	states := []string{string(r.Status)}
	for _, s := range r.States() {
		states = append(states, s.Name)
	}
	return states
}

// allStates are the words that a list of runs can be asked for.
var allStates = []string{string(store.Done), string(store.Running), string(store.Pending), string(store.Interrupted), judge.Failed.Name, judge.Early.Name, judge.Degenerate.Name,
	judge.ZeroSolution.Name, judge.MinorityZero.Name, judge.Minority.Name}

// problems are sentences about what is asked for but does not exist.
func (f filter) problems(rows []runRow) (out []string) {
	if f.state != "" && !slices.Contains(allStates, f.state) {
		out = append(out, fmt.Sprintf("No run is ever called %s; the states are %s.", clip(f.state), strings.Join(allStates, ", ")))
	}
	for _, key := range slices.Sorted(maps.Keys(f.values)) {
		found := valuesOf(rows, key)
		if len(found) == 0 {
			out = append(out, fmt.Sprintf("No run here has a setting %s.%s", clip(key), nearSetting(rows, key)))
			continue
		}
		for _, v := range f.values[key] {
			if !slices.Contains(found, v) {
				out = append(out, fmt.Sprintf("No run has %s = %s; there is %s.", key, clip(v), strings.Join(found[:min(len(found), mostOffered)], ", ")))
			}
		}
	}
	return out
}

// nearSetting asks whether another setting was meant.
func nearSetting(rows []runRow, key string) string {
	known := map[string]bool{}
	for i := range rows {
		for k := range rows[i].Settings {
			known[k] = true
		}
	}
	if near := spelling.Nearest(key, slices.Sorted(maps.Keys(known))); near != "" {
		return " Did you mean " + near + "?"
	}
	return ""
}

// valuesOf lists the values of a setting among runs, in order.
func valuesOf(rows []runRow, key string) []string {
	seen := map[string]bool{}
	for i := range rows {
		if v, ok := rows[i].Settings[key]; ok {
			seen[v] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b string) int { return figure.CompareSettings(key, a, b) })
}

// offer is a setting with the values to choose from.
type offer struct {
	Key     string
	Field   string // its name in an address
	Choices []option
}

type option struct {
	Value, Words string
	Chosen       bool
}

// Offers are the settings in which the runs differ.
func (f filter) offers(rows []runRow, keys []string) (out []offer) {
	for _, key := range keys {
		values := valuesOf(rows, key)
		if len(values) < 2 || len(values) > mostOffered {
			continue
		}
		o := offer{Key: key, Field: named(key)}
		for _, v := range values {
			o.Choices = append(o.Choices, option{v, judge.ShortValue(v), slices.Contains(f.values[key], v)})
		}
		out = append(out, o)
	}
	return out
}

// states offers the states that the runs have.
func (f filter) states(rows []runRow) (out []option) {
	for _, s := range allStates {
		if s == f.state || slices.ContainsFunc(rows, func(r runRow) bool { return slices.Contains(statesOf(&r), s) }) {
			out = append(out, option{s, s, s == f.state})
		}
	}
	return out
}
