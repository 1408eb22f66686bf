package scale

import (
	"flag"
	"os"
	"strings"
	"testing"

	"collapse/internal/recipe"
)

var update = flag.Bool("update", false, "write the tables of docs/scale.md anew")

const (
	document = "../../docs/scale.md"
	begins   = "<!-- written by: go test ./internal/scale -run Documented -update -->\n"
	ends     = "<!-- end of what is written -->\n"
)

// TestDocumented: docs/scale.md holds the plans of all recipes that train at the papers' own scale, and the rates.
func TestDocumented(t *testing.T) {
	p := Planner{Cores: 2}
	var plans []Plan
	for _, h := range recipe.List() {
		if !h.Trains() {
			continue
		}
		r, err := recipe.Load(h.ID)
		must(t, err)
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
	case now == want:
	case *update:
		must(t, os.WriteFile(document, []byte(before+begins+want+ends+after), 0o644))
	default:
		t.Errorf("%s is not what the program plans; write it anew with: go test ./internal/scale -run Documented -update\n%s", document, want)
	}
}
