//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dataGrid reads its loss from a file of data.
const dataGrid = `
[study]
name = "mine"
[trainer]
command = ["sh", "train.sh"]
data = ["conf/**"]
epochs = 2
[grid]
wd = [0.0, 0.5]
`

const dataTrainer = `
echo x >> started; loss=$(cat conf/loss); if [ -e edit ]; then echo 0.75 > conf/loss; rm edit; fi
for e in 1 2; do echo "{\"generation\": $COLLAPSE_GENERATION, \"epoch\": $e, \"values\": {\"test/loss\": $loss}}" >> "$COLLAPSE_EVENTS"; done
echo "{\"generation\": $COLLAPSE_GENERATION, \"done\": true}" >> "$COLLAPSE_EVENTS"
`

// TestRunsOfOtherDataAreNotMade: data that change while a study runs, or before it is resumed, are told, and the runs wait; with the data as they were they
// are computed.
func TestRunsOfOtherDataAreNotMade(t *testing.T) {
	file, lab := scriptStudy(t, dataGrid)
	dir := filepath.Dir(file)
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("train.sh", dataTrainer)
	write("conf/loss", "0.25\n")
	write("edit", "") // the first run changes the data before it reports
	_, errs := called(t, 1, "--lab", lab, "study", "run", file, "--workers", "1")
	if !strings.Contains(errs, "the data are not those of the run") {
		t.Error(errs)
	}
	if out, _ := called(t, 0, "--lab", lab, "study", "status", "mine"); !strings.Contains(out, "2 runs: 0 done") {
		t.Error(out)
	}
	before, err := os.ReadFile(filepath.Join(dir, "started"))
	if err != nil {
		t.Fatal(err)
	}
	_, errs = called(t, 1, "--lab", lab, "study", "resume", "mine", "--allow-scripts", dir)
	if !strings.Contains(errs, "the data are not those of the run") {
		t.Error(errs)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "started")); err != nil || string(after) != string(before) {
		t.Errorf("a script is started with data that are not the run's: %q, before %q, %v", after, before, err)
	}
	write("conf/loss", "0.25\n")
	called(t, 0, "--lab", lab, "study", "resume", "mine", "--allow-scripts", dir)
	for key, value := range table(t, lab, "mine") {
		if strings.Contains(key, "loss") && !strings.HasPrefix(value, "0.25") {
			t.Errorf("%s is %s", key, value)
		}
	}
	write("conf/loss", "0.5\n")
	out, errs := called(t, 0, "--lab", lab, "study", "run", file)
	if said := out + errs; !strings.Contains(said, "whose data were others") || strings.Contains(said, "settings the file does not ask for") {
		t.Error(said)
	}
}

// TestSettingsKeepTheirTypes: what --set gives has the type of the file, tables are no values, and lists of texts are told apart.
func TestSettingsKeepTheirTypes(t *testing.T) {
	text := strings.Replace(scriptGrid, "lr = 0.1", "lr = 0.1\nflag = true\nname = \"a\"", 1)
	text = strings.Replace(text, "wd = [0.0, 0.5]", `names = [["a b", "c"], ["a", "b c"], ["a", "b", "c"]]`, 1)
	file, lab := scriptStudy(t, text)
	rewritten(t, file, "args = \"flags\"\n", "")
	called(t, 0, "--lab", lab, "study", "run", file, "--set", "name=007")
	out, _ := called(t, 0, "--lab", lab, "--json", "export", "mine")
	for _, list := range []string{`["a b","c"]`, `["a","b c"]`, `["a","b","c"]`} {
		quoted := strings.ReplaceAll(list, `"`, `\"`)
		if !strings.Contains(out, quoted) && !strings.Contains(out, list) {
			t.Errorf("no run has %s: %.400s", list, out)
		}
		if rows, _ := called(t, 0, "--lab", lab, "-q", "runs", "list", "--where", "names="+list); strings.Count(rows, "\n") != 2 {
			t.Errorf("%s: %s", list, rows)
		}
	}
	for set, want := range map[string]string{"flag=False": "it is true in the file; wanted true or false", "m={depth=4}": "wanted a number, a text, a truth value or a list"} {
		if _, errs := called(t, 2, "--lab", lab, "study", "run", file, "--set", set); !strings.Contains(errs, want) {
			t.Errorf("%s: %s", set, errs)
		}
	}
	rewritten(t, file, "names = [", "same = [true, \"true\"]\nnames = [")
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, "[grid] same has true and \"true\", which tables and claims cannot tell apart") {
		t.Error(errs)
	}
	rewritten(t, file, "same = [true, \"true\"]\n", "")
	rewritten(t, file, "names = [", "model = [{ depth = 1 }, { depth = 3 }]\nnames = [")
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, "[grid] model holds a table; wanted a list for each of its keys, such as model.depth = [1, 3]") {
		t.Error(errs)
	}
}
