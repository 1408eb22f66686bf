package results

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// compare compares what a file says with what the rows of its runs give.
func (a *Audit) compare(r Recipe, remake Remake) error {
	if remake == nil {
		return nil
	}
	again, err := remake(r)
	if err != nil {
		a.NoRows = append(a.NoRows, Difference{Recipe: r.ID, What: err.Error()})
		return nil
	}
	if again == nil {
		return nil
	}
	said, err := shown(r)
	if err != nil {
		return err
	}
	given, err := shown(*again)
	if err != nil {
		return err
	}
	a.FromRows++
	d := differ{}
	d.compare("", said, given)
	a.Numbers += d.numbers
	if d.what != "" {
		a.Different = append(a.Different, Difference{Recipe: r.ID, What: d.what})
	}
	return nil
}

// shown is what a recipe says, as JSON reads it, but for the date and the program's version: another one may have made it again.
func shown(r Recipe) (out map[string]any, err error) {
	r.Program, r.Date = "", time.Time{}
	text, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

// differ finds the first place where two values of JSON part, and counts the numbers of the first.
type differ struct {
	numbers int
	what    string
}

func (d *differ) compare(place string, said, given any) {
	switch a := said.(type) {
	case map[string]any:
		b, _ := given.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(a)) {
			d.compare(place+"."+key, a[key], b[key])
		}
		for _, key := range slices.Sorted(maps.Keys(b)) {
			if _, known := a[key]; !known {
				d.note(place+"."+key, nil, b[key])
			}
		}
	case []any:
		b, _ := given.([]any)
		for i := range a {
			var other any
			if i < len(b) {
				other = b[i]
			}
			d.compare(fmt.Sprintf("%s[%d]", place, i), a[i], other)
		}
		if len(b) > len(a) {
			d.note(fmt.Sprintf("%s[%d]", place, len(a)), nil, b[len(a)])
		}
	case float64:
		d.numbers++
		if b, is := given.(float64); !is || !near(a, b) {
			d.note(place, said, given)
		}
	default:
		if said != given {
			d.note(place, said, given)
		}
	}
}

func (d *differ) note(place string, said, given any) {
	if d.what != "" {
		return
	}
	a, b := inJSON(said), inJSON(given)
	alike := 0
	for alike < min(len(a), len(b)) && a[alike] == b[alike] {
		alike++
	}
	d.what = fmt.Sprintf("%s is %s; the rows give %s", place[1:], around(a, alike), around(b, alike))
}

// mostShown is how many bytes of a value are shown.
const mostShown = 200

// around is a text, or what lies around a place of a long one.
func around(text string, at int) string {
	if at < mostShown/2 {
		at = 0
	}
	shown := text[max(0, at-20):]
	if len(shown) < len(text) {
		shown = "…" + shown
	}
	if len(shown) > mostShown {
		shown = shown[:mostShown] + "…"
	}
	return strings.ToValidUTF8(shown, "")
}

func inJSON(v any) string {
	if v == nil {
		return "nothing"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
