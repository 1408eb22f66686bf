package scale

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/recipe"
)

var update = flag.Bool("update", false, "write the tables of docs/scale.md anew")

const (
	document = "../../docs/scale.md"
	begins   = "<!-- written by: go test ./internal/scale -run Documented -update -->\n"
	ends     = "<!-- end of what is written -->\n"
)

// loaded are recipes of the program, each read once.
var loaded = map[string]*recipe.Recipe{}

// foreseen is a recipe of the program, to be planned. How many runs a search has, and how long they are, does not depend on the settings
// that it tries, and modelling results that nobody has, so as to choose them, takes most of a plan's time: the share draws them by chance.
func foreseen(t *testing.T, id string) *recipe.Recipe {
	t.Helper()
	if loaded[id] == nil {
		r, err := recipe.Load(id)
		must(t, err)
		if r.Search != nil && !longtest.Whole() && !*update {
			r.Search["sampler"] = "random"
		}
		loaded[id] = r
	}
	return loaded[id]
}

// comparable is a table without what the share cannot tell: the hours on many cores of a search, and with it of all recipes, since trials
// that are drawn by chance wait less for each other.
func comparable(table string) string {
	if longtest.Whole() || *update {
		return table
	}
	lines := strings.Split(table, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "|")
		if id := strings.TrimSpace(cells[min(1, len(cells)-1)]); id == "all" || loaded[id] != nil && loaded[id].Search != nil {
			lines[i] = strings.Join(slices.Delete(cells, 5, 6), "|")
		}
	}
	return strings.Join(lines, "\n")
}

// TestDocumented: docs/scale.md holds the plans of all recipes that train at the papers' own scale, and the rates.
func TestDocumented(t *testing.T) {
	longtest.Only(t)
	p := Planner{Cores: 2}
	var plans []Plan
	for _, h := range recipe.List() {
		if !h.Trains() {
			continue
		}
		r := foreseen(t, h.ID)
		plan, err := p.Plan(r, paper)
		must(t, err)
		plans = append(plans, plan)
	}
	text, err := os.ReadFile(document)
	must(t, err)
	before, rest, opened := strings.Cut(string(text), begins)
	now, after, closed := strings.Cut(rest, ends)
	want := "\n" + Markdown(append(plans, p.Total())) + "\n"
	switch {
	case !opened || !closed:
		t.Fatalf("%s lacks %sor %s", document, begins, ends)
	case comparable(now) == comparable(want):
	case *update:
		must(t, os.WriteFile(document, []byte(before+begins+want+ends+after), 0o644))
	default:
		t.Errorf("%s is not what the program plans; write it anew with: go test ./internal/scale -run Documented -update\n%s", document, want)
	}
}
