package page

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
)

// side is one side of a claim that is a single call, such as 0.1 * start("train.nc1_pinv", {"loss.kind": "ce"}).
type side struct {
	factor, call, value, part, minus string         // part: of the run's epochs, of at()
	where                            map[string]any // the runs that it selects
}

var sideForm = regexp.MustCompile(`^(?:([\d.]+) \* )?(\w+)\((?:[\d.]+, )?(?:("[^{}]+?")(?:, ([\d.]+))?(?:, )?)?(\{.*\})?\)(?: - ([\d.]+))?$`)

func readSide(expression string) (side, bool) {
	m := sideForm.FindStringSubmatch(expression)
	if m == nil {
		return side{}, false
	}
	s := side{factor: m[1], call: m[2], value: m[3], part: m[4], minus: m[6]}
	if m[5] != "" && json.Unmarshal([]byte(m[5]), &s.where) != nil {
		return side{}, false
	}
	return s, true
}

// sideNames says in a few words what the two sides of a claim are: what distinguishes their runs, their layers or their epochs.
func sideNames(e *judge.Effect) [2]string {
	left, okLeft := readSide(e.Sides[0])
	right, okRight := readSide(e.Sides[1])
	switch {
	case e.Kind == judge.Linear:
		return [2]string{"bend", "rise"}
	case okLeft && !okRight && strings.Trim(e.Sides[1], "0123456789. /") == "":
		return [2]string{"measured", "compared with"}
	case okLeft && okRight:
		names := [2]string{left.apartFrom(right), right.apartFrom(left)}
		if names[0] != names[1] {
			return [2]string{cmp.Or(names[0], ofTheRow), cmp.Or(names[1], ofTheRow)}
		}
	case e.Sides[0] != "" && e.Sides[1] != "" && !strings.ContainsAny(e.Sides[0]+e.Sides[1], `"(`):
		return e.Sides // words already
	}
	return [2]string{"left", "right"}
}

// ofTheRow names a side that selects nothing: it has the settings of the table's row.
const ofTheRow = "as in the row"

// apartFrom names what a side has and the other has not.
func (s side) apartFrom(other side) string {
	var words []string
	for _, key := range sortedKeys(s.where) {
		if value := settingText(s.where[key]); value != settingText(other.where[key]) {
			words = append(words, inWords(key, value))
		}
	}
	if s.value != other.value {
		words = append(words, s.place(other))
	}
	if s.call != other.call {
		words = append(words, s.when())
	}
	text := strings.Join(words, ", ")
	switch {
	case s.factor != "":
		text = s.factor + " × " + text
	case s.minus != "":
		text += " − " + s.minus
	}
	return text
}

// when is the epoch that a side's call reads.
func (s side) when() string {
	switch s.call {
	case "start":
		return "at the start"
	case "at":
		return "after " + s.part + " of the epochs"
	}
	return "at the end"
}

// place is the layer of a side's value if the other is the same value of another layer, otherwise the value's name.
func (s side) place(other side) string {
	split, layer, key := judge.SplitName(strings.Trim(s.value, `"`))
	otherSplit, _, otherKey := judge.SplitName(strings.Trim(other.value, `"`))
	if strings.Contains(s.value, `", "`) || key != otherKey {
		return strings.ReplaceAll(s.value, `"`, "")
	}
	if layer == "" && split == otherSplit {
		layer = "last layer"
	}
	if split != otherSplit {
		return strings.TrimSpace(split + " " + layer)
	}
	return layer
}

// cellName writes the settings that distinguish a cell as figures do.
func cellName(name string) string {
	name, contradicts := strings.CutSuffix(name, judge.Contradicts)
	parts := strings.Split(name, ", ")
	for i, part := range parts {
		if key, value, ok := strings.Cut(part, " = "); ok && strings.Contains(key, ".") {
			parts[i] = inWords(key, value)
		}
	}
	if contradicts {
		parts[len(parts)-1] += judge.Contradicts
	}
	return strings.Join(parts, ", ")
}

func inWords(key, value string) string {
	if values := strings.Split(value, ", "); len(values) > 1 {
		first := figure.SettingInWords(key, values[0])
		for _, v := range values[1:] {
			first += ", " + v
		}
		return first
	}
	return figure.SettingInWords(key, value)
}

func sortedKeys(where map[string]any) []string {
	return slices.Sorted(maps.Keys(where))
}

// settingText is a setting's value, or several, as text.
func settingText(v any) string {
	if v == nil {
		return ""
	}
	list, several := v.([]any)
	if !several {
		return format.Setting(v)
	}
	words := make([]string, len(list))
	for i, one := range list {
		words[i] = format.Setting(one)
	}
	return strings.Join(words, ", ")
}
