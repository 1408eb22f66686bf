package results

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// compare compares what a file says with what the rows of its runs give.
func (a *Audit) compare(r Recipe, remake Remake) error {
	if remake == nil {
		return nil
	}
	again, err := remake(r)
	if err != nil || again == nil {
		return err
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

// shown is what a recipe shows of its runs, as JSON reads it: all but who made it, when, and how many runs have not ended.
func shown(r Recipe) (out map[string]any, err error) {
	text, err := json.Marshal(Recipe{Claims: r.Claims, Numbers: r.Numbers, Notes: r.Notes, Changed: r.Changed, CoreHours: r.CoreHours, Figures: r.Figures})
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
	if d.what == "" {
		d.what = fmt.Sprintf("%s is %s; the rows give %s", place[1:], inJSON(said), inJSON(given))
	}
}

func inJSON(v any) string {
	if v == nil {
		return "nothing"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%.200s", text)
}
