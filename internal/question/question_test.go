package question

import (
	"strings"
	"testing"
)

const head = "[study]\nname = \"x\"\n"

// TestQuestionsOfOwnSettings: claims and drawings name what the study's own script has.
func TestQuestionsOfOwnSettings(t *testing.T) {
	const mine = head + "[trainer]\ncommand = [\"sh\", \"t.sh\"]\nepochs = 3\n[base]\nmodel.width = 3\n[grid]\nmethod = [\"ce\", \"ls\"]\n[search]\ntrials = 3\n[search.space]\nlr = { uniform = [0, 1] }\n"
	const claim = "[[claim]]\nid = \"a\"\nsays = \"b\"\nkind = \"less\"\n"
	for text, want := range map[string]string{
		mine: "",
		mine + claim + "left = 'final(\"val/f1\", {\"method\": \"ls\", \"model.width\": 3})'\nright = 'final(\"auc\")'\nearly = true\ncells = [\"lr\"]\n":                                                       "",
		mine + claim + "left = 'slope(\"lr\", \"val/f1\")'\nright = '0'\nwhere = { \"run.seed\" = [1, 2] }\n[[drawing]]\ntitle = \"d\"\n[[drawing.panel]]\nx = \"lr\"\ny = \"val/f1\"\ncurves = [\"method\"]\n": "",
		mine + claim + "left = 'final(\"auc\", {\"metod\": \"ls\"})'\nright = '0'\n":                                                                                                                            `a selection names "metod", which is not a setting; did you mean method?`,
		mine + claim + "left = 'final(\"auc\")'\nright = '0'\ncells = [\"loss.kind\"]\n":                                                                                                                        `cells names "loss.kind", which is not a setting`,
		mine + claim + "left = 'final(\"kept.nothing\")'\nright = '0'\n":                                                                                                                                        "no value is called",
		mine + claim + "left = 'final(\"auc\"'\nright = '0'\n":                                                                                                                                                  "claim \"a\"",
		mine + claim + "left = 'lst(\"auc\")'\nright = '0'\n":                                                                                                                                                   "unknown name lst",
		mine + claim + "lft = '1'\nright = '0'\n":                                                                                                                                                               "unknown key claim.lft; did you mean left?",
		mine + claim + "left = '1'\nright = '0'\n" + claim + "left = '1'\nright = '0'\n":                                                                                                                        `two claims have the id "a"`,
		mine + "[[claim]]\nid = \"a\"\nkind = \"less\"\nleft = '1'\nright = '0'\n":                                                                                                                              "id and says must be given",
		mine + claim + "source = \"paper\"\nleft = '1'\nright = '0'\n":                                                                                                                                          "a claim of the paper needs quote",
		mine + "[[drawing]]\ntitle = \"d\"\n":                                                                                                                                                                   "one to 12 panels",
		mine + "[[drawing]]\ntitle = \"d\"\n[[drawing.panel]]\nx = \"epoch\"\ny = \"auc\"\ncurves = [\"m\"]\n":                                                                                                  `drawing "d", panel 1: it names "m", which is not a setting`,
		mine + "[[table]]\ntitle = \"t\"\nrows = [\"method\", \"lr\"]\nvalues = [\"val/f1\", \"auc\"]\npercent = [\"auc\"]\nwhere = { \"model.width\" = 3 }\n":                                                  "",
		mine + "[[table]]\ntitle = \"t\"\nrows = [\"metod\"]\nvalues = [\"auc\"]\n":                                                                                                                             `rows or where names "metod", which is not a setting; did you mean method?`,
		mine + "[[table]]\ntitle = \"t\"\nrows = [\"method\"]\nvalues = [\"auc\"]\npercent = [\"aux\"]\n":                                                                                                       `percent names "aux", which is not among values; did you mean auc?`,
		mine + "[[table]]\ntitle = \"t\"\nrows = [\"method\"]\n":                                                                                                                                                "title, rows (settings) and values (names) must be given",
		mine + strings.Repeat("[[table]]\ntitle = \"t\"\nrows = [\"method\"]\nvalues = [\"auc\"]\n", 21):                                                                                                        "at most 20",
		head + "[[table]]\ntitle = \"t\"\nrows = [\"loss.kind\"]\nvalues = [\"train.nc1_pnv\"]\n":                                                                                                               "did you mean nc1_pinv?",
		mine + strings.Repeat(claim+"left = '1'\nright = '0'\n", 61):                                                                                                                                            "at most 60",
		strings.Repeat("#", 1<<20+1): "at most 1048576",
		"# --seeds 3\n# --set wd=[1, 2]\n" + mine + claim + "left = 'final(\"auc\", {\"wd\": 1})'\nright = '0'\n": "",
		mine + "# --set wd=1\n" + claim + "left = 'final(\"auc\", {\"wd\": 1})'\nright = '0'\n":                   `a selection names "wd", which is not a setting`,
		head + claim + "left = 'final(\"test.accuracy\", {\"loss.kind\": \"ls\"})'\nright = '0'\n":                "",
		head + claim + "left = 'final(\"val/f1\")'\nright = '0'\n":                                                `"val/f1" is neither a setting nor split.measure`,
		head + claim + "left = 'final(\"train.nc1\")'\nright = '0'\n":                                             `no measure is called "nc1"`,
		"[study": "line 1, column 6: expected ']'",
	} {
		asked, err := Parse(text)
		if want == "" && (err != nil || asked.Any() != strings.Contains(text, "[[")) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n%v; want %q", text[max(0, len(text)-200):], err, want)
		}
	}
	asked, _ := Parse(mine + claim + "left = '1'\nright = '0'\n")
	if len(asked.Claims) != 1 || asked.Claims[0].Source != "ours" {
		t.Errorf("claims %+v: a claim without a source is the user's own", asked.Claims)
	}
}

// FuzzParse: the text comes from a lab, which may be a stranger's.
func FuzzParse(f *testing.F) {
	f.Add(head + "[trainer]\n[grid]\nm = [1]\n[[claim]]\nid = \"a\"\nsays = \"b\"\nkind = \"less\"\nleft = 'final(\"x\")'\nright = '0'\n[[drawing]]\ntitle = \"d\"\n[[drawing.panel]]\nx = \"m\"\ny = \"x\"\n")
	f.Fuzz(func(t *testing.T, text string) { Parse(text) })
}

// TestExpressionsDoNotLoop: what visits lists is no part of the language.
func TestExpressionsDoNotLoop(t *testing.T) {
	for _, side := range []string{"let a = 1..1000; count(a, count(a, count(a, count(a, true))))", "sum(map(1..100000, #))", "reduce(1..9, # + #acc)", "len(filter(1..9, true))", "len(repeat('x', 1000000))",
		strings.Repeat("1+", 2001) + "1"} {
		_, err := Parse(head + "[[claim]]\nid = \"a\"\nsays = \"b\"\nkind = \"less\"\nright = \"0\"\nleft = \"" + side + "\"\n")
		if err == nil {
			t.Errorf("%.60s passes", side)
		}
	}
	if _, err := Parse(head + "[[claim]]\nid = \"a\"\nsays = \"b\"\nkind = \"less\"\nright = \"max(1, mean([2, 3])) - abs(-2)\"\nleft = \"0\"\n"); err != nil {
		t.Error(err)
	}
}
