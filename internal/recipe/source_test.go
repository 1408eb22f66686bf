package recipe_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/recipes"
)

// shown is what a committed result says of its claims.
type shown struct {
	ID, Paper string
	Claims    []judge.Claim
}

// committed reads the results in docs.
func committed(t *testing.T) (all []shown) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "docs", "results", "standard", "*.json"))
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d results, %v", len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var one shown
		if err := json.Unmarshal(text, &one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// unchecked reads a recipe without checking it, which takes longer.
func unchecked(t *testing.T, id string) (r recipe.Recipe) {
	t.Helper()
	text, err := fs.ReadFile(recipes.Files(), id+".toml")
	if err != nil {
		t.Fatal(err)
	}
	if err := toml.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Every claim of the committed results has the source that today's recipe gives it, and every source belongs to a claim.
func TestResultsHaveTheSourcesOfTheRecipes(t *testing.T) {
	for _, found := range committed(t) {
		r := unchecked(t, found.ID)
		if found.Paper != r.Paper {
			t.Errorf("%s: the result is about %q, the recipe about %q", found.ID, found.Paper, r.Paper)
		}
		kept := slices.Clone(found.Claims)
		if err := r.Attribute(found.Claims); err != nil {
			t.Error(err)
		}
		said := map[string]judge.Provenance{}
		for _, s := range r.Training.Claims {
			said[s.ID] = s.Provenance
		}
		for i, c := range found.Claims {
			want := c.Provenance
			if p, ok := said[c.ID]; ok {
				want = p
			}
			if err := want.Check(); err != nil || kept[i].Provenance != want {
				t.Errorf("%s %s: the result has %+v, the recipe %+v; %v", found.ID, c.ID, kept[i].Provenance, want, err)
			}
		}
		for _, a := range r.Sources {
			for _, id := range a.Claims {
				if !names(found.Claims, id) {
					t.Errorf("%s has a source for %q, which is not a claim of it", found.ID, id)
				}
			}
		}
	}
}

// names reports whether an id is a claim's, or that of its cases.
func names(claims []judge.Claim, id string) bool {
	for _, c := range claims {
		if c.ID == id || regexp.MustCompile("^"+regexp.QuoteMeta(id)+"-[0-9]+$").MatchString(c.ID) {
			return true
		}
	}
	return false
}

// typesetting is what is left of TeX and of symbols when a quotation is looked up.
var typesetting = strings.NewReplacer("≥", `\geq `, "≤", `\leq `, "×", `\times `, "√", `\sqrt `, "η", `\eta `, "λ", `\lambda `, "σ", `\sigma `, "θ", `\theta `, "α", `\alpha `, "ρ", `\rho `)

var (
	styles  = regexp.MustCompile(`\\(mathbf|boldsymbol|mathcal|mathbb|mathrm|text|bar|overline|tilde|hat|left|right)\b`)
	letters = regexp.MustCompile(`[^a-z0-9]+`)
)

// plain is a text without markup, punctuation, hyphens and line breaks.
func plain(text string) string {
	return letters.ReplaceAllString(strings.ToLower(styles.ReplaceAllString(typesetting.Replace(text), "")), "")
}

// stands reports whether the parts of a quotation, between its ellipses, follow each other closely in a text.
func stands(quote, text string) bool {
	const close = 900 // letters that an ellipsis may leave out
	parts := strings.Split(quote, "…")
	first := plain(parts[0])
	for from := 0; ; from++ {
		i := strings.Index(text[from:], first)
		if i < 0 {
			return false
		}
		from += i
		rest, all := text[from+len(first):], true
		for _, part := range parts[1:] {
			part = plain(part)
			i := strings.Index(rest[:min(len(rest), close+len(part))], part)
			if all = i >= 0; !all {
				break
			}
			rest = rest[i+len(part):]
		}
		if all {
			return true
		}
	}
}

// Every quotation stands literally in its paper. COLLAPSE_PAPERS names a folder with a text file for each paper.
func TestQuotationsAreLiteral(t *testing.T) {
	dir := os.Getenv("COLLAPSE_PAPERS")
	if dir == "" {
		t.Skip("COLLAPSE_PAPERS names no folder with the papers’ texts")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no text in %s: %v", dir, err)
	}
	var texts []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, plain(string(text)))
	}
	asked := map[string]bool{"": true}
	ask := func(id, quote string) {
		if !asked[quote] && !slices.ContainsFunc(texts, func(text string) bool { return stands(quote, text) }) {
			t.Errorf("%s: no paper says “%s”", id, quote)
		}
		asked[quote] = true
	}
	for _, id := range recipe.IDs() {
		r := unchecked(t, id)
		for _, c := range r.Training.Claims {
			ask(id, c.Quote)
		}
		for _, s := range r.Sources {
			ask(id, s.Quote)
		}
	}
	for _, found := range committed(t) { // also has the claims of M-D Fig. 1, which are in no recipe
		for _, c := range found.Claims {
			ask(found.ID, c.Quote)
		}
	}
}

// A quotation is found across line breaks, hyphens, markup and its ellipses, and only there.
func TestWhereAQuotationStands(t *testing.T) {
	text := plain("Then, $\\sigma(\\mathbf{W}_1)$ col-\nlapses to an orthogonal $d \\times K$ frame. Not far " + strings.Repeat("x", 1000) + " the end.")
	for quote, want := range map[string]bool{"collapses to an orthogonal d × K frame": true, "Then, … collapses": true, "Then, σ(W_1) collapses": true,
		"collapses to orthogonal": false, "Not far … the end": false, "frame … collapses": false} {
		if stands(quote, text) != want {
			t.Errorf("%q: %v", quote, !want)
		}
	}
}

func TestClaimsWithoutASourceAreRefused(t *testing.T) {
	const training = "id = \"x\"\ntitle = \"A title\"\npaper = \"Someone 2022, Fig. 1\"\nkind = \"training\"\n[base]\n[full]\nseeds = 2\n[quick]\nseeds = 1\n" +
		"[[claim]]\nid = \"a\"\nsays = \"it falls\"\nkind = \"less\"\nleft = '0'\nright = '1'\n"
	const sketch = "id = \"x\"\ntitle = \"A title\"\npaper = \"Someone 2022, Fig. 1\"\nkind = \"scheme\"\n[landscape]\nk = 3\n"
	for _, c := range []struct{ text, want string }{
		{training, `line 10: claim "a": source is missing`},
		{training + "source = \"ours\"\n", ""},
		{training + "source = \"ours\"\n[[source]]\nclaims = [\"a\"]\nsource = \"ours\"\n", "cannot have source"},
		{sketch, ""},
		{sketch + "[[source]]\nclaims = [\"a\"]\nsource = \"paper\"\n", "[[source]] of a: a claim of the paper needs quote"},
		{sketch + "[[source]]\nsource = \"ours\"\n", "claims is missing"},
		{sketch + "[[source]]\nclaims = [\"a\", \"a\"]\nsource = \"ours\"\n", "named twice"},
	} {
		r, err := recipe.Parse("x.toml", []byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, wanted %q", c.text[len(c.text)-40:], err, c.want)
		}
		if err == nil && !r.Trains() {
			if err := r.Attribute([]judge.Claim{{ID: "b"}}); err == nil || !strings.Contains(err.Error(), `"b"`) {
				t.Errorf("a claim without a source: %v", err)
			}
		}
	}
}

// A claim about a case takes the source of its own id, or else that of its cases.
func TestSourcesOfCases(t *testing.T) {
	r := recipe.Recipe{Sources: []recipe.Attribution{{Claims: []string{"gap"}, Provenance: judge.Provenance{Source: judge.OwnCheck}}, {Claims: []string{"gap-2", "gap3"}, Provenance: judge.Provenance{Source: judge.Ours}}}}
	claims := []judge.Claim{{ID: "gap-1"}, {ID: "gap-2"}, {ID: "gap-12"}, {ID: "gap3"}}
	if err := r.Attribute(claims); err != nil {
		t.Fatal(err)
	}
	for i, want := range []judge.Source{judge.OwnCheck, judge.Ours, judge.OwnCheck, judge.Ours} {
		if claims[i].Source != want {
			t.Errorf("%s has source %q, wanted %q", claims[i].ID, claims[i].Source, want)
		}
	}
}
