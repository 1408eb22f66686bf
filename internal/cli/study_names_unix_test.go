//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// namesTrainer reports names as people choose them, each with another value.
const namesTrainer = `
lr=0 seed=0; while [ $# -gt 0 ]; do case $1 in --lr) lr=$2;; --seed) seed=$2;; esac; shift 2; done
v() { awk "BEGIN { printf \"%.9f\", $1 * $lr + $seed / 1e8 }"; }
for e in 1 2; do echo "{\"generation\": $COLLAPSE_GENERATION, \"epoch\": $e, \"values\": {\"val/map@0.5\": $(v 1), \"recall@10\": $(v 2), \"val.f1\": $(v 3), \"val/f1\": $(v 5)}}" >> "$COLLAPSE_EVENTS"; done
echo "{\"generation\": $COLLAPSE_GENERATION, \"done\": true}" >> "$COLLAPSE_EVENTS"
`

const namesStudy = `
[study]
name = "mine"
seeds = 5
[trainer]
command = ["sh", "train.sh"]
epochs = 2
args = "flags"
[grid]
lr = [1.0, 2.0]
`

// TestNamesAsPeopleChooseThem: with an @, with a dot, and two that differ in that alone, in claims, tables, drawings, searches and lists.
func TestNamesAsPeopleChooseThem(t *testing.T) {
	names := map[string]float64{"val/map@0.5": 1, "recall@10": 2, "val.f1": 3, "val/f1": 5}
	text := namesStudy
	for name, slope := range names {
		text += fmt.Sprintf("[[claim]]\nid = %[1]q\nsays = %[1]q\nkind = \"equal\"\nleft = 'final(%[1]q, {\"lr\": 2})'\nright = '%[2]g'\nband = [-0.001, 0.001]\nbecause = \"rounding\"\n[[table]]\ntitle = %[1]q\nrows = [\"lr\"]\nvalues = [%[1]q]\n[[drawing]]\ntitle = \"Of %[1]s\"\n[[drawing.panel]]\nx = \"lr\"\ny = %[1]q\n", name, 2*slope)
	}
	file, lab := scriptStudy(t, text)
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(namesTrainer), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 0, "--lab", lab, "study", "run", file)
	out, errs := called(t, 0, "--lab", lab, "study", "judge", file)
	if !strings.Contains(out, "(holds: 4)") || strings.Contains(out+errs, "did you mean") {
		t.Error(out, errs)
	}
	page := filepath.Join(t.TempDir(), "page")
	if out, errs := called(t, 0, "--lab", lab, "study", "report", file, "--out", page); strings.Contains(out+errs, "not drawn") {
		t.Error(out, errs)
	}
	for name, slope := range names {
		rows, _ := called(t, 0, "--lab", lab, "--json", "runs", "list", "--sort", name)
		if first := strings.Index(rows, fmt.Sprintf("%q", name)); first < 0 || !strings.Contains(rows[first:], fmt.Sprintf(": %g", slope)) {
			t.Errorf("sorted by %s: %.600s", name, rows)
		}
		search := strings.Replace(namesStudy, "[grid]\nlr = [1.0, 2.0]\n", fmt.Sprintf("[search]\ntrials = 2\nschedule = \"full\"\nmetric = %q\ngoal = \"max\"\n[search.space]\nlr = { choice = [1.0, 2.0] }\n", name), 1)
		search = strings.Replace(strings.Replace(search, "seeds = 5\n", "", 1), `"mine"`, `"found"`, 1)
		if err := os.WriteFile(file, []byte(search), 0o666); err != nil {
			t.Fatal(err)
		}
		called(t, 0, "--lab", lab, "study", "run", file)
		if out, _ := called(t, 0, "--lab", lab, "study", "status", "found"); !strings.Contains(out, name) || !regexp.MustCompile(fmt.Sprintf(`best +2 +%g +done +lr 2\n`, 2*slope)).MatchString(out) {
			t.Errorf("searched by %s: %s", name, out)
		}
	}
}

// TestValuesByHandAreOfOneKind: what --set cannot mean is refused, with what was meant.
func TestValuesByHandAreOfOneKind(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, "wd = [0.0, 0.5]", "", 1))
	for set, want := range map[string]string{"lr=0.1,0.2": "--set 'lr=[0.1,0.2]'", "lr=": "wanted a value", "seeds=3": "--seeds 3", "study.seeds=3": "--seeds 3"} {
		if _, errs := called(t, 2, "--lab", lab, "study", "run", file, "--set", set); !strings.Contains(errs, want) {
			t.Errorf("%s: %s", set, errs)
		}
	}
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file, "--seeds", "2", "--set", "run.seed=4"); !strings.Contains(errs, "run.seed is 4, and the study asks for other seeds") {
		t.Error(errs)
	}
	called(t, 0, "--lab", lab, "study", "run", file, "--set", `lr="0.1,0.2"`, "--dry-run")
}

// TestTextsThatLookLikeNumbersStayTexts in lists of runs.
func TestTextsThatLookLikeNumbersStayTexts(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, "wd = [0.0, 0.5]", `act = ["007", "1e3", "nan"]`, 1))
	called(t, 0, "--lab", lab, "study", "run", file)
	out, _ := called(t, 0, "--lab", lab, "runs", "list")
	for _, want := range []string{"act 007", "act 1e3", "act nan"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s: %s", want, out)
		}
	}
}

// TestModulesThatChangeLaterAreTold: a study whose script has loaded a file that nothing names says so once the file is another.
func TestModulesThatChangeLaterAreTold(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	beside, elsewhere := filepath.Join(filepath.Dir(file), "lib", "beside.sh"), filepath.Join(t.TempDir(), "elsewhere.sh")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(beside, "x=1")
	write(elsewhere, "y=1")
	rewritten(t, filepath.Join(filepath.Dir(file), "train.sh"), `, \"sum\": $sum}}`, fmt.Sprintf(`, \"sum\": $sum}, \"loaded\": [\"lib/beside.sh\", \"%s\"]}`, elsewhere))
	const told = "changed since finished runs loaded it"
	for _, c := range []struct{ change, want string }{{"", ""}, {beside, "lib/beside.sh: " + told}, {elsewhere, elsewhere + " and lib/beside.sh: " + told}} {
		if c.change != "" {
			write(c.change, "z=2")
		}
		for _, more := range []string{"--dry-run", "--quiet=false"} {
			_, errs := called(t, 0, "--lab", lab, "study", "run", file, more)
			if !strings.Contains(errs, c.want) || c.want == "" && strings.Contains(errs, told) {
				t.Errorf("%s, %s: %s", c.change, more, errs)
			}
		}
	}
}

// TestSettingsThatNameFilesAreTold, until the data name the file.
func TestSettingsThatNameFilesAreTold(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, "wd = [0.0, 0.5]", `config = ["a.yaml", "b.yaml", "none.yaml", "train.sh"]`, 1))
	for _, name := range []string{"a.yaml", "b.yaml"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"config = a.yaml and config = b.yaml: settings that name files", "config = b.yaml: settings that name files", ""} {
		_, errs := called(t, 0, "--lab", lab, "study", "run", file, "--dry-run")
		if !strings.Contains(errs, want) || want == "" && strings.Contains(errs, "settings that name files") || strings.Contains(errs, "train.sh:") {
			t.Errorf("%s, wanted %q", errs, want)
		}
		if strings.Contains(want, "a.yaml") {
			rewritten(t, file, "epochs = 4\n", "epochs = 4\ndata = [\"a.yaml\"]\n")
		} else if want != "" {
			rewritten(t, file, `data = ["a.yaml"]`, `data = ["*.yaml"]`)
		}
	}
}

// TestVersionsOfTheCodeAreTold: in lists, where runs differ in nothing else, and by the status, which says how to go on with the code as it was.
func TestVersionsOfTheCodeAreTold(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	t.Chdir(filepath.Dir(file))
	called(t, 0, "--lab", lab, "study", "run", file)
	rewritten(t, "train.sh", "sum=0; ", "sum=0;  ")
	if out, _ := called(t, 0, "--lab", lab, "runs", "list"); regexp.MustCompile(`train\.sh [0-9a-f]{8}`).MatchString(out) || !strings.Contains(out, "train.sh, ") {
		t.Errorf("one version: %s", out)
	}
	if out, _ := called(t, 0, "--lab", lab, "study", "retry", "mine"); strings.Contains(out, "has changed since") != true || !strings.Contains(out, "study resume mine --allow-scripts .") || !strings.Contains(out, "study run study.toml computes the new version") {
		t.Error(out)
	}
	called(t, 0, "--lab", lab, "study", "run", file)
	out, _ := called(t, 0, "--lab", lab, "runs", "list")
	versions := map[string]bool{}
	for line := range strings.Lines(out) {
		if _, after, found := strings.Cut(line, "wd 0.5, train.sh "); found {
			versions[strings.TrimSpace(after)] = true
		}
	}
	if len(versions) != 2 {
		t.Errorf("%d versions: %s", len(versions), out)
	}
	if out, _ := called(t, 0, "--lab", lab, "study", "retry", "mine"); strings.Contains(out, "has changed since") {
		t.Error(out)
	}
}

// TestRungsAreTold: those of min_epochs are seldom the number given.
func TestRungsAreTold(t *testing.T) {
	for min, want := range map[string]string{"2": "hyperband: rungs at epochs 4 and 12 (12 divided by powers of eta = 3, not below min_epochs = 2)", "5": "hyperband: one rung, so that no trial is stopped early (12 divided by powers of eta = 3, not below min_epochs = 5)"} {
		text := strings.Replace(strings.Replace(scriptGrid, "epochs = 4", "epochs = 12", 1), "[grid]\nwd = [0.0, 0.5]", "[search]\ntrials = 3\nmetric = \"test/loss\"\ngoal = \"min\"\nmin_epochs = "+min+"\n[search.space]\nwd = { uniform = [0, 1] }", 1)
		file, lab := scriptStudy(t, text)
		if out, errs := called(t, 0, "--lab", lab, "study", "run", file, "--dry-run"); !strings.Contains(errs, want) {
			t.Errorf("%s: %s %s", min, out, errs)
		}
	}
}

// TestAStudyThatLacksRunsIsNotDone: what was removed is told by lists, status and verdicts, until it is computed again.
func TestAStudyThatLacksRunsIsNotDone(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid+"[[table]]\ntitle = \"Losses\"\nrows = [\"wd\"]\nvalues = [\"test/loss\"]\n")
	called(t, 0, "--lab", lab, "study", "run", file, "--set", "wd=[0.0, 0.5, 0.7]", "--seeds", "2")
	words := func(removed bool, of string) {
		t.Helper()
		for _, call := range [][]string{{"study", "list"}, {"study", "status", "mine"}} {
			out, _ := called(t, 0, append([]string{"--lab", lab}, call...)...)
			if strings.Contains(out, "incomplete") != removed {
				t.Errorf("%v: %s", call, out)
			}
		}
		if out, _ := called(t, 0, "--lab", lab, "study", "judge", "mine"); !strings.HasPrefix(out, "mine: "+of+" runs are finished") {
			t.Error(out)
		}
	}
	words(false, "6 of 6")
	out, _ := called(t, 0, "--lab", lab, "runs", "list")
	hash := strings.Fields(out[strings.Index(out, "\n")+1:])[0]
	called(t, 0, "--lab", lab, "runs", "rm", hash)
	words(true, "5 of 6")
	called(t, 0, "--lab", lab, "study", "run", file, "--set", "wd=[0.0, 0.5, 0.7]", "--seeds", "2")
	words(false, "6 of 6")
}

// TestCurvesOfASearchForADottedName are drawn, as others are.
func TestCurvesOfASearchForADottedName(t *testing.T) {
	text := strings.Replace(namesStudy, "[grid]\nlr = [1.0, 2.0]\n", "[search]\ntrials = 2\nschedule = \"full\"\nmetric = \"val.f1\"\ngoal = \"max\"\n[search.space]\nlr = { choice = [1.0, 2.0] }\n", 1)
	file, lab := scriptStudy(t, strings.Replace(text, "seeds = 5\n", "", 1))
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(strings.Replace(namesTrainer, `, \"val/f1\": $(v 5)`, "", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 0, "--lab", lab, "study", "run", file)
	to := filepath.Join(t.TempDir(), "page")
	called(t, 0, "--lab", lab, "study", "report", "mine", "--out", to)
	found, err := filepath.Glob(filepath.Join(to, "*curves*.csv"))
	if more, _ := filepath.Glob(filepath.Join(to, "*", "*curves*.csv")); err == nil {
		found = append(found, more...)
	}
	rows := 0
	for _, name := range found {
		csv, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rows = max(rows, strings.Count(string(csv), "\n")-1)
	}
	if rows < 4 { // two trials of two epochs
		t.Errorf("%d rows in %q", rows, found)
	}
}

// TestWhatIsMeantIsAsked: which of two files goes on with a study, whether a file without a name is of the study called so, and flags that no
// setting can be.
func TestWhatIsMeantIsAsked(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, "[study]\nname = \"mine\"\n", "", 1))
	t.Chdir(filepath.Dir(file))
	called(t, 0, "--lab", lab, "study", "run", file)
	rewritten(t, "train.sh", "sum=0; ", "sum=0;  ")
	if _, errs := called(t, 0, "--lab", lab, "study", "run", file); !strings.Contains(errs, "give this one a name of its own") {
		t.Error(errs)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("again.toml", append([]byte("[study]\nname = \"study\"\n"), text...), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, _ := called(t, 0, "--lab", lab, "study", "retry", "study"); !strings.Contains(out, "study run FILE, with FILE one of again.toml and study.toml") {
		t.Error(out)
	}
	if f := flagsOf("p.add_argument('--lernräte', default=0.1)\np.add_argument(\"--lr\", default=0.1, help='größer')\n"); len(f.unfit) != 1 || f.unfit[0] != "lernräte" || len(f.found) != 1 {
		t.Errorf("%+v", f)
	}
}

// TestGoalsAndDefaultsThatInitProposes: a goal by whole words of a metric's name, and numbers as TOML writes them.
func TestGoalsAndDefaultsThatInitProposes(t *testing.T) {
	for metric, want := range map[string]string{"val/f1": `"max"`, "test/loss": `"min"`, "val/mape": `"min"`, "val/map@0.5": `"max"`, "val/error_acc": `"min or max"`, "val/vaccine": `"min or max"`, "temperature": `"min or max"`} {
		if got := goalOf(metric); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, wanted %s", metric, got, want)
		}
	}
	for text, want := range map[string]string{".1": "0.1", "1.": "1.0", "-.5": "-0.5", "1_000": "1000", "1e-3": "1e-3", "0.25": "0.25", "inf": "", "[3]": ""} {
		if got, ok := pythonValue(text); got != want && ok || ok != (want != "") {
			t.Errorf("%s: %s, %v; wanted %s", text, got, ok, want)
		}
	}
}

// TestCodeOfOtherScriptsIsNoVersion: only of one command's code are there versions, one of which may lack the file.
func TestCodeOfOtherScriptsIsNoVersion(t *testing.T) {
	run := func(command, file, digest string) map[string]any {
		return map[string]any{"trainer.command": []any{"sh", command}, codeKey + file: digest}
	}
	differ := []string{codeKey + "a.sh", codeKey + "b.sh", "lr"}
	for want, runs := range map[string][]map[string]any{
		"lr":                                    {run("a.sh", "a.sh", "1"), run("b.sh", "b.sh", "2")},
		codeKey + "a.sh lr":                     {run("a.sh", "a.sh", "1"), run("a.sh", "a.sh", "2"), run("b.sh", "b.sh", "2")},
		codeKey + "a.sh " + codeKey + "b.sh lr": {run("a.sh", "a.sh", "1"), run("a.sh", "b.sh", "1")},
	} {
		if got := strings.Join(withoutOnlyCode(differ, runs), " "); got != want {
			t.Errorf("%q, wanted %q", got, want)
		}
	}
}
