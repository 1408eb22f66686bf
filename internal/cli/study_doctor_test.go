//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	stdhtml "html"
	"math"
	"os"
	"path/filepath"
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
	if out, _ := called(t, 0, "--lab", lab, "study", "status", "found"); !strings.Contains(out, "  best: run "+best.Run[:12]+", files in "+best.Dir+"\n  started as: "+best.Command+"\n  with: "+best.Settings[0]+"\n") {
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
	if _, errs := called(t, 0, "--lab", lab, "study", "run", file); !strings.Contains(errs, "1 run of an earlier version of mine, whose settings the file does not ask for any more, is no longer") {
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
		if strings.Contains(errs, "earlier version") != (told != "") || !strings.Contains(errs, told) {
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
	if out, _ := called(t, 0, "--lab", lab, "study", "run", file, "--set", "search.trials=4", "--dry-run"); !strings.Contains(out, "4 runs of an earlier version of found") || strings.Contains(out, "would be next") {
		t.Error(out)
	}
	run("4 runs of an earlier version of found, whose code was another (train.sh), are no longer part of it")
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
	_, line, told := strings.Cut(said, "with this line under [trainer]: ")
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
	if said := run(5, "--dry-run"); !strings.Contains(said, "2 to compute") || !strings.Contains(said, "with this line under [trainer]: same_as") || strings.Contains(said, line) {
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
	for _, part := range []struct{ title, value string }{{"Last values by settings", "<td>0</td>"}, {"Last values by settings", "<td>0.5</td><td>–</td><td>0 (0 of 1 runs)</td>"}, {"<h3>Failed or unfinished</h3>", "<td>0.5</td>"}, {"<h3>Finished</h3>", "<td>0</td>"}} {
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

// TestASearchSpeaksOfItsMetricFirst: each finished trial's line begins with it, and a list sorted by it has its column.
func TestASearchSpeaksOfItsMetricFirst(t *testing.T) {
	file, lab := scriptStudy(t, fmt.Sprintf(scriptSearch, "random", "full"))
	_, errs := called(t, 0, "--lab", lab, "study", "run", file, "--set", "search.trials=3", "--listen", "127.0.0.1:0", "--workers", "1")
	n := 0
	for line := range strings.Lines(errs) {
		if _, said, ended := strings.Cut(line, "trial "); ended {
			if _, said, _ = strings.Cut(said, ": "); !strings.HasPrefix(said, "test/loss ") {
				t.Errorf("%s begins with something else", line)
			}
			n++
		}
	}
	if n < 3 || !strings.Contains(errs, "--token-file FILE --allow-scripts DIR\n") {
		t.Errorf("%d trials, and workers join how?\n%s", n, errs)
	}
	if _, errs := called(t, 1, "--lab", lab, "study", "status", "fuond"); !strings.Contains(errs, `has no study "fuond"; did you mean found?`) {
		t.Error(errs)
	}
	if out, _ := called(t, 0, "--lab", lab, "study", "status", "found"); !strings.Contains(out, "  sum 45, test/loss ") {
		t.Errorf("the values of the last runs are missing: %s", out)
	}
	out, _ := called(t, 0, "--lab", lab, "runs", "list", "--sort", "test/loss")
	if head, _, _ := strings.Cut(out[max(0, strings.Index(out, "RUN ")):], "\n"); !strings.Contains(head, "test/loss") {
		t.Errorf("sorted by test/loss, without its column: %s", out)
	}
}

// TestAnExtendedSearchLosesNothing: however many trials are added, and whatever brackets that makes, the best does not get worse, and no trial
// counts fewer epochs than it had.
func TestAnExtendedSearchLosesNothing(t *testing.T) {
	for _, sampler := range []string{"random", "bayes"} {
		file, lab := scriptStudy(t, strings.Replace(fmt.Sprintf(scriptSearch, sampler, "hyperband"), `name = "found"`, "name = \"found\"\nseeds = 1", 1))
		rugged := strings.Replace(shellTrainer, "($lr - 0.1)^2", "sin(1000 * $lr)", 1) // the best may be any trial
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(rugged), 0o666); err != nil {
			t.Fatal(err)
		}
		best, furthest := math.Inf(1), map[string]int{}
		for _, trials := range []int{4, 8, 9, 12, 14} {
			out, _ := called(t, 0, "--lab", lab, "--json", "study", "run", file, "--set", fmt.Sprint("search.trials=", trials))
			var got searched
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			s := got.Searches[0]
			top, ok := s.best()
			if !ok || top.Epochs != 9 || *top.Value > best || len(s.Trials) < trials {
				t.Fatalf("%s, %d trials: the best is %+v, and was %g", sampler, trials, top, best)
			}
			if len(s.Final) != 1 || !slices.Equal(s.Final[0].Settings, append(top.Settings, "run.seed=1")) {
				t.Errorf("%s, %d trials: all data with %+v, where the best is %+v", sampler, trials, s.Final, top)
			}
			if status, _ := called(t, 0, "--lab", lab, "study", "status", "found"); strings.Contains(status, fmt.Sprintf("trial %d to", trials+1)) || len(s.Trials) > trials && !strings.Contains(status, fmt.Sprintf(", %d kept of an earlier version", len(s.Trials)-trials)) {
				t.Errorf("%s, %d trials: %s", sampler, trials, status)
			}
			best = *top.Value
			before := furthest
			furthest = map[string]int{}
			for _, row := range s.Trials {
				settings := strings.Join(row.Settings, " ")
				if row.Epochs < before[settings] {
					t.Errorf("%s, %d trials: trial %d with %s counts %d epochs, and had %d", sampler, trials, row.Number, settings, row.Epochs, before[settings])
				}
				furthest[settings] = row.Epochs
			}
			for settings, epochs := range before {
				if furthest[settings] < epochs {
					t.Errorf("%s, %d trials: %s with %d epochs is lost", sampler, trials, settings, epochs)
				}
			}
		}
	}
}

// TestADryRunTellsOfAnotherSpace: runs that cannot be part of the search any more are told before it begins, not only at its end.
func TestADryRunTellsOfAnotherSpace(t *testing.T) {
	file, lab := scriptStudy(t, fmt.Sprintf(scriptSearch, "random", "full"))
	run := func(more ...string) string {
		out, errs := called(t, 0, append([]string{"--lab", lab, "study", "run", file, "--set", "search.trials=4"}, more...)...)
		return out + errs
	}
	run()
	if said := run("--dry-run"); strings.Contains(said, "earlier version") {
		t.Error(said)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(fmt.Sprintf(scriptSearch, "random", "full"), "[0.0, 1.0]", "[0.0, 0.5]", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	const told = "2 runs of an earlier version of found, whose settings the file does not ask for any more, are no longer part of it"
	if said := run("--dry-run"); !strings.Contains(said, told) { // the other two lie in the new space
		t.Errorf("a dry run: %s", said)
	}
	if said := run(); !strings.Contains(said, told) || strings.Index(said, told) > strings.Index(said, "trial 1") {
		t.Error(said)
	}
	less := strings.Replace(fmt.Sprintf(scriptSearch, "random", "full"), "lr = { uniform = [0.0, 1.0] }", "wd = { uniform = [0.0, 1.0] }", 1)
	less = strings.Replace(less, "[base]\nwd = 0", "[base]\nlr = 0.1", 1)
	code := shellTrainer
	for _, change := range []func(){
		func() { code += "# other\n" }, // trials of other code are none
		func() { // and so are those with settings that are not searched any more
			if err := os.WriteFile(file, []byte(less), 0o666); err != nil {
				t.Fatal(err)
			}
		},
	} {
		change()
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(code), 0o666); err != nil {
			t.Fatal(err)
		}
		if said := run("--dry-run"); !strings.Contains(said, "of an earlier version of found") || strings.Contains(said, "of the lab count") {
			t.Error(said)
		}
		run()
		if status, _ := called(t, 0, "--lab", lab, "study", "status", "found"); strings.Contains(status, "earlier") {
			t.Error(status)
		}
	}
}

// TestPagesOfScriptsUseTheirWords: values that end in NaN are no last values, curves are of settings, choices have their names, and a script's best
// settings are computed again with further seeds, not "on all data".
func TestPagesOfScriptsUseTheirWords(t *testing.T) {
	file, lab := scriptStudy(t, strings.NewReplacer(`name = "found"`, "name = \"found\"\nseeds = 3", "lr = { uniform = [0.0, 1.0] }", "lr = { uniform = [0.0, 1.0] }\nmode = { choice = [\"keep\", \"raise\"] }").Replace(fmt.Sprintf(scriptSearch, "random", "full")))
	edit := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	page := func(name string) string {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "page")
		called(t, 0, "--lab", lab, "study", "report", name, "--out", dir)
		html, err := os.ReadFile(filepath.Join(dir, "index.html"))
		if err != nil {
			t.Fatal(err)
		}
		return stdhtml.UnescapeString(string(html))
	}
	edit(strings.Replace(shellTrainer, "+ 1 / $e }", "+ 1 / $e + 0$seed / 10 }", 1))
	edit(strings.NewReplacer("lr=0 wd=0", "lr=0 wd=0 seed=0", "--wd) wd=$2;;", "--wd) wd=$2;; --seed) seed=$2;;", "+ 1 / $e }", "+ 1 / $e + $seed / 10 }").Replace(shellTrainer))
	out, errs := called(t, 0, "--lab", lab, "study", "run", file, "--set", "search.trials=6")
	if !strings.Contains(errs, "  best again, lr ") || strings.Contains(errs, "on all samples") || !strings.Contains(out, "best again") || strings.Contains(out, "all data") || !strings.Contains(out, "  again in 3 runs: test/loss ") || strings.Count(out, "  best again: run ") != 3 || !strings.Contains(out, " ± 0.10 (mean ± standard deviation)\n") {
		t.Error(out, errs)
	}
	status, _ := called(t, 0, "--lab", lab, "study", "status", "found")
	_, folder, kept := strings.Cut(status, "  a copy of that code: ")
	folder, _, _ = strings.Cut(folder, "\n")
	if text, err := os.ReadFile(filepath.Join(folder, "train.sh")); !kept || err != nil || !strings.Contains(string(text), "--seed) seed=$2") || !strings.Contains(status, "  code: train.sh ") {
		t.Errorf("%v: %s", err, status)
	}
	_, hash, _ := strings.Cut(status, "  best: run ")
	alone := filepath.Join(t.TempDir(), "alone")
	called(t, 0, "--lab", lab, "report", hash[:12], "--out", alone)
	if text, err := os.ReadFile(filepath.Join(alone, "index.html")); err != nil || !strings.Contains(string(text), "The script was started as: sh train.sh --lr ") || strings.Contains(string(text), "easures of collapse") ||
		strings.Contains(string(text), "ean over seeds") {
		t.Errorf("the page of one run: %v", err)
	}
	html := page("found")
	for _, part := range []string{`<b data-tile="seeds">3</b> seeds`, "mode: raise", "Computed again with 3 runs: ", "Trials without a value have no line"} {
		if !strings.Contains(html, part) {
			t.Errorf("the page of the search lacks %q", part)
		}
	}
	edit(strings.Replace(shellTrainer, `\"test/loss\": $loss`, `\"test/loss\": $([ $e -gt 2 ] && echo '"NaN"' || echo $loss)`, 1))
	if err := os.WriteFile(file, []byte(scriptGrid), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 0, "--lab", lab, "study", "run", file)
	html = page("mine")
	if !strings.Contains(html, "test/loss, wd 0: no value after epoch 2 (the value was not a number (NaN))") {
		t.Error("the page does not say where the values end")
	}
}

// TestASearchWhoseLongRunsHaveNoValues has no best, trains nothing more, and ends: a value of a shorter run is none of the model that was asked for.
func TestASearchWhoseLongRunsHaveNoValues(t *testing.T) {
	const want = "no best: no trial that went to epoch 9 has a value of test/loss there"
	for _, from := range []string{"8", "1"} {
		file, lab := scriptStudy(t, strings.Replace(fmt.Sprintf(scriptSearch, "random", "hyperband"), `name = "found"`, "name = \"found\"\nseeds = 2", 1))
		text := strings.Replace(shellTrainer, `\"test/loss\": $loss`, `\"test/loss\": $([ $e -gt `+from+` ] && echo '"NaN"' || echo $loss)`, 1)
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		var out, errs strings.Builder
		code := run(t.Context(), []string{"--lab", lab, "study", "run", file, "--set", "search.trials=7"}, &out, &errs)
		status, _ := called(t, 0, "--lab", lab, "study", "status", "found")
		if from == "8" && (code != 1 || !strings.Contains(out.String(), want)) || strings.Contains(out.String(), "again") || strings.Contains(out.String(), " best  ") && from == "8" || !strings.HasPrefix(status, "found: done; ") {
			t.Errorf("from epoch %s: status %d\n%s%s\n%s", from, code, out.String(), errs.String(), status)
		}
	}
}

// TestOneWrongTableHidesNothing: the claims and the other tables are shown, with those settings, too, of which every run failed.
func TestOneWrongTableHidesNothing(t *testing.T) {
	tables := "[[table]]\ntitle = \"Losses\"\nrows = [\"wd\"]\nvalues = [\"test/loss\"]\n[[table]]\ntitle = \"Misspelt\"\nrows = [\"wd\"]\nvalues = [\"test/los\"]\n"
	file, lab := scriptStudy(t, scriptGrid+tables)
	failing := "case $* in *'--wd 0.5'*) echo 'ValueError: too much' >&2; exit 3;; esac\n" + shellTrainer
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(failing), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 1, "--lab", lab, "study", "run", file)
	out, _ := called(t, 0, "--lab", lab, "study", "judge", "mine")
	for _, part := range []string{"mine: 1 of 2 runs are finished\n", "\nLosses\n", "\n0.5  –", "0 (0 of 1 runs)", "Table \"Misspelt\": no run has test/los; did you mean test/loss?."} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is not in %s", part, out)
		}
	}
	if err := os.WriteFile(file, []byte(scriptGrid+strings.Replace(tables, `rows = ["wd"]`, `rows = ["seed"]`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, errs := called(t, 2, "--lab", lab, "study", "judge", file); !strings.Contains(errs, `"seed", which is not a setting; did you mean run.seed?`) {
		t.Error(errs)
	}
}

// TestBothVersionsOfTheSameCodeCount: a run that only the code as it is has computed is not computed again under the name of the earlier one; grids
// and searches.
func TestBothVersionsOfTheSameCodeCount(t *testing.T) {
	for name, of := range map[string]struct {
		text        string
		small       string
		first, more int
	}{"grid": {scriptGrid, "wd=[0.0]", 1, 2}, "search": {fmt.Sprintf(scriptSearch, "random", "full"), "search.trials=2", 2, 9}} {
		file, lab := scriptStudy(t, of.text)
		script, log := filepath.Join(filepath.Dir(file), "train.sh"), filepath.Join(filepath.Dir(file), "log")
		run := func(want int, more ...string) string {
			t.Helper()
			out, errs := called(t, 0, append([]string{"--lab", lab, "study", "run", file}, more...)...)
			if text, err := os.ReadFile(log); err != nil || strings.Count(string(text), "\n") != want {
				t.Errorf("%s: %d runs wanted, %d computed; %v", name, want, strings.Count(string(text), "\n"), err)
			}
			return out + errs
		}
		run(of.first, "--set", of.small)
		if err := os.WriteFile(script, []byte(shellTrainer+"# a comment\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		_, line, told := strings.Cut(run(of.first+of.more), "with this line under [trainer]: ")
		if line, _, _ = strings.Cut(line, "\n"); !told {
			t.Fatalf("%s: no line is offered", name)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(of.text, "[trainer]\n", "[trainer]\n"+line+"\n", 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		run(of.first+of.more, "--dry-run")
		if said := run(of.first + of.more); !strings.Contains(said, "count in their place") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// TestRunsWithoutCheckpointsAreNotSaidToGoOn, and those that do are no runs of an earlier version.
func TestRunsWithoutCheckpointsAreNotSaidToGoOn(t *testing.T) {
	bare := strings.Replace(shellTrainer, `mkdir -p "$COLLAPSE_DIR/ckpt/.tmp"; echo $sum > "$COLLAPSE_DIR/ckpt/.tmp/sum"; mv "$COLLAPSE_DIR/ckpt/.tmp" "$COLLAPSE_DIR/ckpt/$e"`, ":", 1)
	for text, want := range map[string]string{bare: "2 runs start at the beginning: the script has left no checkpoint", shellTrainer: "2 runs go on after epoch 2"} {
		file, lab := scriptStudy(t, strings.Replace(scriptGrid, "epochs = 4\n", "epochs = 2\nhorizon = 4\n", 1))
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		called(t, 0, "--lab", lab, "study", "run", file)
		if err := os.WriteFile(file, []byte(strings.Replace(scriptGrid, "epochs = 4\n", "epochs = 4\nhorizon = 4\n", 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, how := range [][]string{{"--dry-run"}, {}} {
			out, errs := called(t, 0, append([]string{"--lab", lab, "study", "run", file}, how...)...)
			if said := out + errs; !strings.Contains(said, want) || text == shellTrainer && strings.Contains(said, "earlier version") {
				t.Errorf("%q: %s", how, said)
			}
		}
	}
}

// TestAMisspeltMetricOfFinishedTrials is told before anything is computed, with what they reported.
func TestAMisspeltMetricOfFinishedTrials(t *testing.T) {
	text := fmt.Sprintf(scriptSearch, "random", "full")
	file, lab := scriptStudy(t, text)
	called(t, 0, "--lab", lab, "study", "run", file, "--set", "search.trials=3")
	if err := os.WriteFile(file, []byte(strings.Replace(text, "test/loss", "test/los", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	_, errs := called(t, 1, "--lab", lab, "study", "run", file, "--set", "search.trials=3")
	if !strings.Contains(errs, "reported no test/los") || !strings.Contains(errs, "it reported sum and test/loss") {
		t.Error(errs)
	}
}
