//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	stdhtml "html"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestASearchForWhatIsNeverReported stops after the first run, names what was reported, and goes on from there once the file is right.
func TestASearchForWhatIsNeverReported(t *testing.T) {
	right := fmt.Sprintf(scriptSearch, "random", "full")
	file, lab := scriptStudy(t, strings.Replace(right, "test/loss", "test/los", 1))
	_, errs := called(t, 1, "--lab", lab, "study", "run", file, "--workers", "1")
	if !strings.Contains(errs, "reported no test/los") || !strings.Contains(errs, "it reported sum and test/loss") {
		t.Error(errs)
	}
	begun := func() int {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "log"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
	if n := begun(); n > 3 {
		t.Errorf("%d of 9 trials began", n)
	}
	if err := os.WriteFile(file, []byte(right), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 0, "--lab", lab, "study", "run", file, "--workers", "1")
	if n := begun(); n > 12 {
		t.Errorf("%d runs began for 9 trials", n)
	}
}

// TestWhatHoldsForAllRunsIsSaidOnce: that no script asked for a setting, of the first.
func TestWhatHoldsForAllRunsIsSaidOnce(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, "args = \"flags\"\n", "", 1)) // flags count as read
	text := strings.Replace(shellTrainer, `\"done\": true}`, `\"done\": true, \"unasked\": [\"wd\"]}`, 1)
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, errs := called(t, 0, "--lab", lab, "study", "run", file, "--workers", "1"); strings.Count(errs, "never asked for wd") != 1 {
		t.Error(errs)
	}
}

// TestNamesOfOnesOwnAreShownAtOnce, in the line of each run; what changes nothing is said in status and report.
func TestNamesOfOnesOwnAreShownAtOnce(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	text := strings.NewReplacer("test/loss", "val/f1", ", \\\"sum\\\": $sum", "", "+ $wd", "").Replace(shellTrainer) + `printf 'words 1\nwords \033[31m 2\n'` + "\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, errs := called(t, 0, "--lab", lab, "study", "run", file, "--workers", "1"); strings.Count(errs, ": val/f1 0.25") != 2 {
		t.Error(errs)
	}
	if out, _ := called(t, 0, "--lab", lab, "study", "status", "mine"); !strings.Contains(out, "wd changes nothing: in 1 comparison") {
		t.Error(out)
	}
	out, _ := called(t, 0, "--lab", lab, "--json", "runs", "list", "--limit", "1")
	_, rest, _ := strings.Cut(out, `"run": "`)
	if out, _ := called(t, 0, "--lab", lab, "runs", "show", rest[:64]); !strings.Contains(out, "output   words 1\n         words ") || strings.Contains(out, "\033") {
		t.Error(out)
	}
	if out, _ := called(t, 0, "--lab", lab, "runs", "list"); !strings.Contains(out, "REPORTED") || strings.Count(out, "  val/f1 0.25 ") != 2 {
		t.Error(out)
	}
	to := filepath.Join(t.TempDir(), "page")
	_, errs := called(t, 0, "--lab", lab, "study", "report", "mine", "--out", to)
	page, err := os.ReadFile(filepath.Join(to, "index.html"))
	if err != nil || !strings.Contains(errs, "wd changes nothing") || !strings.Contains(string(page), "Watch: wd changes nothing") {
		t.Errorf("%s, %v", errs, err)
	}
}

// TestOneSourceOfEpochs: a script that reads --epochs gets the study's, and a setting that says otherwise is an error.
func TestOneSourceOfEpochs(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	text := "# takes '--epochs'\necho $* >> words\n" + shellTrainer
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 0, "--lab", lab, "study", "run", file)
	words, err := os.ReadFile(filepath.Join(filepath.Dir(file), "words"))
	if err != nil || strings.Count(string(words), "--epochs 4\n") != 2 {
		t.Errorf("%s, %v", words, err)
	}
	file, lab = scriptStudy(t, strings.Replace(scriptGrid, "lr = 0.1", "num_epochs = 7", 1))
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, "num_epochs: is 7, and the runs have 4 epochs") {
		t.Error(errs)
	}
	file, lab = scriptStudy(t, strings.Replace(strings.Replace(scriptGrid, "[study]", "[study]\nseeds = 2", 1), "lr = 0.1", "seed = 7", 1))
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, "leave out one of them") {
		t.Error(errs)
	}
}

// TestAStudyIsForgotten with its runs left; a name that is not there leaves the others.
func TestAStudyIsForgotten(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	called(t, 0, "--lab", lab, "study", "run", file)
	called(t, 1, "--lab", lab, "study", "rm", "mine", "none")
	if out, _ := called(t, 0, "--lab", lab, "study", "list"); !strings.Contains(out, "mine") {
		t.Error(out)
	}
	if out, _ := called(t, 0, "--lab", lab, "study", "rm", "mine"); out != "removed mine; the lab keeps its 2 runs\n" {
		t.Error(out)
	}
	out, _ := called(t, 0, "--lab", lab, "study", "list")
	if runs, _ := called(t, 0, "--lab", lab, "runs", "list"); strings.Contains(out, "mine") || strings.Count(runs, "train.sh") != 2 {
		t.Errorf("%s%s", out, runs)
	}
}

// TestAGoalIsNotGuessed: whether a large or a small value is better is asked, unless the metric is a loss or an accuracy.
func TestAGoalIsNotGuessed(t *testing.T) {
	text := strings.Replace(fmt.Sprintf(scriptSearch, "random", "full"), `goal = "min"`, "", 1)
	file, lab := scriptStudy(t, strings.Replace(text, "test/loss", "sum", 1))
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, "goal is missing: is a large or a small sum better?") {
		t.Error(errs)
	}
	file, lab = scriptStudy(t, strings.Replace(text, "test/loss", "test/f1", 1))
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, "goal is missing: is a large or a small test/f1 better?") {
		t.Error(errs)
	}
	file, lab = scriptStudy(t, strings.Replace(text, "trials = 9", "trials = 4", 1))
	called(t, 0, "--lab", lab, "study", "run", file)
	out, _ := called(t, 0, "--lab", lab, "--json", "study", "resume", "found")
	var found searched
	if err := json.Unmarshal([]byte(out), &found); err != nil || len(found.Searches) != 1 || len(found.Searches[0].Trials) != 4 {
		t.Fatalf("%s: %v", out, err)
	}
	least := math.Inf(1)
	for _, trial := range found.Searches[0].Trials {
		least = min(least, *trial.Value)
	}
	if best := found.Searches[0].Best; best == 0 || *found.Searches[0].Trials[best-1].Value != least {
		t.Errorf("the best is trial %d, the least loss %g: %s", best, least, out)
	}
	best := found.Searches[0].Trials[found.Searches[0].Best-1]
	if want := fmt.Sprintf("sh train.sh %s --wd 0", strings.Replace("--"+best.Settings[0], "=", " ", 1)); best.Command != want {
		t.Errorf("%s was started by %q, wanted %q", best.Run, best.Command, want)
	}
	if out, _ := called(t, 0, "--lab", lab, "study", "status", "found"); !strings.Contains(out, "  best: run "+best.Run[:12]+", files in "+best.Dir+"\n  started as: "+best.Command+"\n  with: "+best.Settings[0]+" wd=0\n") {
		t.Error(out)
	}
	if out, _ := called(t, 0, "--lab", lab, "runs", "show", best.Run); !strings.Contains(out, "\ncommand  "+best.Command+"\n") {
		t.Error(out)
	}
}

// TestAnEarlierVersionOfAStudyIsTold: a file whose grid shrank, or another file of the same name, leaves runs behind.
func TestAnEarlierVersionOfAStudyIsTold(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	if _, errs := called(t, 0, "--lab", lab, "study", "run", file); strings.Contains(errs, "earlier version") {
		t.Error(errs)
	}
	if _, errs := called(t, 0, "--lab", lab, "study", "run", file); strings.Contains(errs, "earlier version") {
		t.Errorf("of the same file: %s", errs)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(scriptGrid, "wd = [0.0, 0.5]", "wd = [0.5]", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, errs := called(t, 0, "--lab", lab, "study", "run", file); !strings.Contains(errs, "1 run of another version of mine, whose settings the file does not ask for any more, is no longer") {
		t.Error(errs)
	}
}

// TestAReportNamesWhatAScriptReports, and claims no noise, seed or missing values of it.
func TestAReportNamesWhatAScriptReports(t *testing.T) {
	one := strings.Replace(scriptGrid, "wd = [0.0, 0.5]", "wd = [0.5]", 1)
	for text, want := range map[string]string{one: "One run of a script: lr 0.1, wd 0.5", scriptGrid: "test/loss"} {
		file, lab := scriptStudy(t, text)
		called(t, 0, "--lab", lab, "study", "run", file)
		page := filepath.Join(t.TempDir(), "page")
		out, _ := called(t, 0, "--lab", lab, "study", "report", "mine", "--out", page)
		if !strings.Contains(out, want) || !strings.Contains(out, "sum 10") || strings.Contains(out, "η") || strings.Contains(out, "saved no values") {
			t.Errorf("%s", out)
		}
		html, err := os.ReadFile(filepath.Join(page, "index.html"))
		_, runs, found := strings.Cut(string(html), "<h3>Finished</h3>")
		runs, _, _ = strings.Cut(runs, "</table>")
		if err != nil || !found || !strings.Contains(runs, "test/loss") || !strings.Contains(runs, "sum") || strings.Contains(runs, ">wd<") != (text == scriptGrid) || strings.Contains(runs, "degenerate") {
			t.Errorf("the table of runs: %s, %v", runs, err)
		}
	}
}

// TestRunsOfTwoKindsAreNamedByTheirOwnSettings in one list.
func TestRunsOfTwoKindsAreNamedByTheirOwnSettings(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	called(t, 0, "--lab", lab, "study", "run", file)
	called(t, 0, "--lab", lab, "train", "--data", "glyphs", "--classes", "3", "--width", "16", "--depth", "1", "--epochs", "1")
	out, _ := called(t, 0, "--lab", lab, "runs", "list")
	if !strings.Contains(out, "mlp 1×16, glyphs/3, ce") || strings.Contains(out, "lr ,") || strings.Contains(out, "command") || strings.Contains(out, "horizon") {
		t.Error(out)
	}
}

// TestInitPrintsLines that can be pasted.
func TestInitPrintsLines(t *testing.T) {
	script := filepath.Join(t.TempDir(), "train.py")
	if err := os.WriteFile(script, []byte("import torch\np.add_argument('--epochs', type=int, default=6)\np.add_argument('--amp', action='store_true')\np.add_argument('--bf16', default=False, action='store_true')\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, _ := called(t, 0, "study", "init", "--script", script); strings.Contains(out, `\n`) || !strings.Contains(out, "\n  run = collapse.run() ") || !strings.Contains(out, "run.epochs(6)") {
		t.Error(out)
	}
	lines := scriptLines
	for text, want := range map[string][]scriptLine{ // a script without PyTorch; one with a setting of its own, and the first lines; one with all
		"import numpy": slices.Concat(lines[:5], lines[6:]), "import torch\nimport sys, collapse": lines[1:], "import torch\nimport collapse\nrun = collapse.run()\nlr = run.setting('lr')\nfor e in run.epochs(3): torch.save(model.state_dict())": slices.Concat(lines[3:4], lines[5:]),
	} {
		got := linesToAdd(text, "%s", false)
		for _, l := range lines {
			if wanted := slices.Contains(want, l); strings.Contains(got, strings.TrimSpace(strings.Split(l.text, "\n")[0])) != wanted {
				t.Errorf("%q: %q wanted: %v; %s", text, l.text, wanted, got)
			}
		}
	}
	if whole := linesToAdd("", "3", false); linesToAdd("torch\n"+whole+"torch.save(); run.tap()", "3", true) != "" {
		t.Error(whole)
	}
	space := spaceOf([]scriptFlag{{Key: "lr", Default: "0.1"}, {Key: "width", Default: "16"}, {Key: "drop", Default: "0.0"}, {Key: "amp", Default: "false"}, {Key: "opt", Default: `"sgd"`}, {Key: "one", Default: "1"}})
	if want := "# lr = { log_uniform = [0.01, 1] }\n# width = { integer = [8, 32] }\n# drop = { choice = [0.0] }\n# amp = { choice = [false, true] }\n# opt = { choice = [\"sgd\"] }\n# one = { integer = [1, 2] }\n"; space != want {
		t.Errorf("%s, wanted %s", space, want)
	}
	chosen := flagsOf(`p.add_argument("--opt", choices=["sgd", "adam"], default="sgd")
p.add_argument("--size", default=3, choices=(3, 5,))
p.add_argument("--other", choices=NAMES, default="a")`)
	if got, want := spaceOf(chosen.found), "# opt = { choice = [\"sgd\", \"adam\"] }\n# size = { choice = [3, 5] }\n# other = { choice = [\"a\"] }\n"; got != want {
		t.Errorf("%s, wanted %s", got, want)
	}
	spread := flagsOf(`p.add_argument("-l", "--lr", type=float, default=1e-3, help="rate (of steps, see paper")
p.add_argument(
    '--batch', '-b',
    type=int,
    default=32,
)
p.add_argument("--drop"); p.add_argument("--decay", default=10**-3)
p.add_argument("-q", action="store_true")
p.add_argument("files", default="x")
p.add_argument("-e", "--epochs", default=7)`)
	if want := (flags{found: []scriptFlag{{Key: "lr", Default: "1e-3"}, {Key: "batch", Default: "32"}}, others: []string{"drop", "decay"}, epochs: "7"}); !reflect.DeepEqual(spread, want) {
		t.Errorf("%+v, wanted %+v", spread, want)
	}
	if text := studyText("a.py", false, flags{others: []string{"drop"}, epochs: "3"}, "f1"); strings.Contains(text, "\nlr = ") || !strings.Contains(text, "\n# drop = ") || !strings.Contains(text, "\nargs = \"flags\"") {
		t.Error(text)
	}
	pack := filepath.Join(t.TempDir(), "pack", "deep")
	if err := os.MkdirAll(pack, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"../__init__.py": "", "__init__.py": "", "step.py": "", "train.py": "from .step import f\n"} {
		if err := os.WriteFile(filepath.Join(pack, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	called(t, 0, "study", "init", "--script", filepath.Join(pack, "train.py"))
	written, err := os.ReadFile(filepath.Join(pack, "..", "..", "train.toml"))
	if err != nil || !strings.Contains(string(written), `command = ["python3", "-m", "pack.deep.train"]`) {
		t.Errorf("%s, %v", written, err)
	}
	t.Chdir(pack) // the script's own folder, by its name alone
	if err := os.Remove(filepath.Join("..", "..", "train.toml")); err != nil {
		t.Fatal(err)
	}
	called(t, 0, "study", "init", "--script", "train.py")
	if again, err := os.ReadFile(filepath.Join(pack, "..", "..", "train.toml")); err != nil || string(again) != string(written) {
		t.Errorf("%s, %v", again, err)
	}
	if out, _ := called(t, 0, "--lab", filepath.Join(t.TempDir(), "lab"), "study", "run", filepath.Join(pack, "..", "..", "train.toml"), "--dry-run"); !strings.Contains(out, ", 1 to compute") {
		t.Error(out)
	}
	for text, want := range map[string]string{"run.report(e, {'val/f1': f, 'x': 1})": "val/f1", `run.report(epoch=e, values={ "loss" : 1})`: "loss", "run.report(e, values)": "test/loss", "": "test/loss"} {
		if got := metricOf(text); got != want {
			t.Errorf("%s: %s, wanted %s", text, got, want)
		}
	}
	file, err := os.ReadFile(strings.TrimSuffix(script, ".py") + ".toml")
	if err != nil || strings.Count(string(file), "\namp = false") != 1 || strings.Count(string(file), "\nbf16 = false") != 1 {
		t.Errorf("%s, %v", file, err)
	}
}

// TestASearchSaysThatItsCodeHasChanged: trials of the code before no longer count, which is told at the start and not after the night.
func TestASearchSaysThatItsCodeHasChanged(t *testing.T) {
	file, lab := scriptStudy(t, fmt.Sprintf(scriptSearch, "random", "full"))
	run := func(told string) {
		t.Helper()
		_, errs := called(t, 0, "--lab", lab, "study", "run", file, "--set", "search.trials=4")
		if strings.Contains(errs, "another version") != (told != "") || !strings.Contains(errs, told) {
			t.Errorf("%s; wanted %q", errs, told)
		}
	}
	script := filepath.Join(filepath.Dir(file), "train.sh")
	run("")
	run("")
	if out, _ := called(t, 0, "--lab", lab, "study", "run", file, "--set", "search.trials=6", "--dry-run"); !strings.Contains(out, "\n4 finished runs of the lab count; 2 runs would be next\n") {
		t.Error(out)
	}
	if err := os.WriteFile(script, []byte(shellTrainer+"# a comment\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, _ := called(t, 0, "--lab", lab, "study", "run", file, "--set", "search.trials=4", "--dry-run"); !strings.Contains(out, "4 runs of another version of found") || strings.Contains(out, "would be next") {
		t.Error(out)
	}
	run("4 runs of another version of found, whose code was another (train.sh), are no longer part of it")
	for study, lines := range map[string]int{"": 1 + 8, "found": 1 + 4} { // with those that no longer count, or without
		args := []string{"--lab", lab, "runs", "list"}
		if study != "" {
			args = append(args, "--study", study)
		}
		if out, _ := called(t, 0, args...); strings.Count(out, "\n") != lines {
			t.Errorf("runs of %q: %s", study, out)
		}
	}
	called(t, 1, "--lab", lab, "runs", "list", "--study", "nosuch")
	if err := os.WriteFile(script, []byte(shellTrainer), 0o666); err != nil { // and the change undone
		t.Fatal(err)
	}
	run("4 runs")
	if text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "log")); err != nil || strings.Count(string(text), "\n") != 8 {
		t.Errorf("%q, %v: what is computed is computed again", text, err)
	}
}

// TestCodeThatIsSaidToBeTheSame: after an edit the program prints the line with which the runs before count; with it nothing is computed anew, but for
// another setting. The line says nothing of a later edit.
func TestCodeThatIsSaidToBeTheSame(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	script, log := filepath.Join(filepath.Dir(file), "train.sh"), filepath.Join(filepath.Dir(file), "log")
	edit := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(wantRuns int, more ...string) string {
		t.Helper()
		out, errs := called(t, 0, append([]string{"--lab", lab, "study", "run", file}, more...)...)
		if text, err := os.ReadFile(log); err != nil || strings.Count(string(text), "\n") != wantRuns {
			t.Errorf("%d runs wanted: %q, %v", wantRuns, text, err)
		}
		return out + errs
	}
	run(2)
	edit(script, shellTrainer+"# a comment\n")
	said := run(2, "--dry-run")
	_, line, told := strings.Cut(said, "with this line, and no other same_as, under [trainer]: ")
	if line, _, _ = strings.Cut(line, "\n"); !told || !strings.Contains(said, "2 to compute") || !strings.Contains(said, "whose code was another (train.sh)") {
		t.Fatal(said)
	}
	same := strings.Replace(scriptGrid, "[trainer]\n", "[trainer]\n"+line+"\n", 1)
	edit(file, same)
	if said := run(2); strings.Contains(said, "earlier version") {
		t.Error(said)
	}
	edit(file, scriptGrid)
	run(4) // of the commented code, which the line then leaves out
	edit(file, same)
	if said := run(4); !strings.Contains(said, "2 runs of mine count no more: by [trainer] same_as, runs of the earlier code count in their place") {
		t.Error(said)
	}
	run(5, "--set", "wd=[0.0, 0.25]")
	edit(script, shellTrainer+"# another comment\n")
	if said := run(5, "--dry-run"); !strings.Contains(said, "2 to compute") || !strings.Contains(said, "with this line, and no other same_as, under [trainer]: same_as") || strings.Contains(said, line) {
		t.Error(said)
	}
	edit(script, shellTrainer+"# a comment\n")
	edit(file, scriptGrid) // without the line it is other code again, and the line is offered again
	if said := run(5, "--dry-run"); !strings.Contains(said, line) {
		t.Errorf("%s lacks %s", said, line)
	}
	edit(file, strings.Replace(same, `"train.sh" = ["`, `"train.sh" = ["x`, 1))
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, "wanted two SHA-256: the first 12 characters of that of the file now") {
		t.Error(errs)
	}
}

// TestAReportTellsWhichSettingsFailed: the table of failed runs, and that of the finished ones, have the setting that divides them.
func TestAReportTellsWhichSettingsFailed(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	failing := "case $* in *'--wd 0.5'*) echo 'ValueError: too much' >&2; exit 3;; esac\n" + shellTrainer
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(failing), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 1, "--lab", lab, "study", "run", file, "--set", "lr=0.2", "--set", "note=it's so")
	if out, _ := called(t, 0, "--lab", lab, "study", "run", file, "--set", "lr=0.2", "--set", "note=it's so", "--dry-run"); !strings.Contains(out, "mine: 2 runs of a script, 0 to compute") ||
		!strings.Contains(out, "1 run failed before: ") || !strings.Contains(out, "study retry mine marks them") {
		t.Error(out)
	}
	dir := filepath.Join(t.TempDir(), "page")
	called(t, 0, "--lab", lab, "study", "report", "mine", "--out", dir)
	html, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	_, repeat, _ := strings.Cut(string(html), `<section id="repeat">`)
	repeat = stdhtml.UnescapeString(repeat)
	if want := "<pre>collapse --lab " + lab + " study run mine.toml --set lr=0.2 --set 'note=it'\\''s so'\n"; !strings.Contains(repeat, want) || !strings.Contains(repeat, "# --set note=it's so\n"+scriptGrid) {
		t.Errorf("%s\nlacks %s, or the study's file", repeat, want)
	}
	for _, part := range []struct{ title, value string }{{"Last values by settings", "<td>0</td>"}, {"Last values by settings", "<td>0.5</td><td>–</td><td>0 (0 of 1 runs, 1 failed)</td>"}, {"<h3>Failed or unfinished</h3>", "<td>0.5</td>"}, {"<h3>Finished</h3>", "<td>0</td>"}} {
		_, table, found := strings.Cut(string(html), part.title)
		table, _, _ = strings.Cut(table, "</table>")
		if !found || !strings.Contains(table, ">wd</th>") || !strings.Contains(table, part.value) {
			t.Errorf("%s: %s", part.title, table)
		}
	}
}

// TestASearchWithoutABestSaysWhy, and which other trials are as good as the best.
func TestASearchWithoutABestSaysWhy(t *testing.T) {
	for loss, want := range map[string]string{`\"NaN\"`: "no best: none of 4 finished trials has a value of test/loss at its last epoch", "1": "  as good: trial 2, 3 and 4\n"} {
		code := map[bool]int{true: 1}[loss != "1"]
		file, lab := scriptStudy(t, fmt.Sprintf(scriptSearch, "random", "full"))
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(strings.Replace(shellTrainer, `\"test/loss\": $loss`, `\"test/loss\": `+loss, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		out, errs := called(t, code, "--lab", lab, "study", "run", file, "--set", "search.trials=4")
		if !strings.Contains(out, want) || code != 0 && !strings.Contains(errs, want) {
			t.Errorf("%s: %s\n%s", loss, out, errs)
		}
		called(t, code, "--lab", lab, "study", "resume", "found", "--allow-scripts", filepath.Dir(file))
	}
}

// TestAMisspeltScriptIsAnsweredWithTheNearest file.
func TestAMisspeltScriptIsAnsweredWithTheNearest(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, `"train.sh"`, `"trian.sh"`, 1))
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, "trian.sh is not there; did you mean train.sh?") {
		t.Error(errs)
	}
}

// TestAnExtendedSearchKeepsItsTrials: those that it asks for again later are not said to be lost.
func TestAnExtendedSearchKeepsItsTrials(t *testing.T) {
	file, lab := scriptStudy(t, fmt.Sprintf(scriptSearch, "bayes", "hyperband"))
	called(t, 0, "--lab", lab, "study", "run", file, "--set", "search.trials=6")
	_, errs := called(t, 0, "--lab", lab, "study", "run", file, "--set", "search.trials=9")
	at, last := strings.Index(errs, "earlier version"), strings.LastIndex(errs, "trial ")
	if at >= 0 && at < last {
		t.Errorf("told before the search has asked for all: %s", errs)
	}
}
