//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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
			list, _ := called(t, 0, "--lab", lab, "runs", "list")
			for _, row := range s.Trials { // the list of runs names them alike
				name := fmt.Sprintf("trial %d, train.sh", row.Number)
				if row.Number > trials {
					name = "earlier trial, train.sh"
				}
				if !regexp.MustCompile(`(?m)^` + row.Run[:12] + ` .* ` + name).MatchString(list) {
					t.Errorf("%s, %d trials: no line of %.12s with %q in %s", sampler, trials, row.Run, name, list)
				}
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
	const told = "2 runs of another version of found, whose settings the file does not ask for any more, "
	if said := run("--dry-run"); !strings.Contains(said, told+"would no longer be part of it") { // the other two lie in the new space
		t.Errorf("a dry run: %s", said)
	}
	if said := run(); !strings.Contains(said, told+"are no longer part of it") || strings.Index(said, told) > strings.Index(said, "trial 1") {
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
		if said := run("--dry-run"); !strings.Contains(said, "of another version of found") || strings.Contains(said, "of the lab count") {
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
	page := func(name string) string { return reportOf(t, lab, name) }
	edit(strings.Replace(shellTrainer, "+ 1 / $e }", "+ 1 / $e + 0$seed / 10 }", 1))
	edit(strings.NewReplacer("lr=0 wd=0", "lr=0 wd=0 seed=0", "--wd) wd=$2;;", "--wd) wd=$2;; --seed) seed=$2;;", "+ 1 / $e }", "+ 1 / $e + $seed / 10 }").Replace(shellTrainer))
	out, errs := called(t, 0, "--lab", lab, "study", "run", file, "--set", "search.trials=6")
	if !strings.Contains(errs, "  best again, lr ") || strings.Contains(errs, "on all samples") || !strings.Contains(out, "best again") || strings.Contains(out, "all data") || !strings.Contains(out, "  again in 3 runs: test/loss ") || strings.Count(out, "  best again: run ") != 3 || !strings.Contains(out, " ± 0.25 (mean ± half of Student’s 95 % interval)\n") {
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
	for _, part := range []string{"mine: 1 of 2 runs are finished\n", "\nLosses\n", "\n0.5  –", "0 (0 of 1 runs, 1 failed)", "Table \"Misspelt\": no run has test/los; did you mean test/loss?."} {
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
		_, line, told := strings.Cut(run(of.first+of.more), "with this line, and no other same_as, under [trainer]: ")
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
	other := filepath.Join(filepath.Dir(file), "other.toml") // a study that has not run, with trials that another has computed
	if err := os.WriteFile(other, []byte(strings.NewReplacer("test/loss", "test/los", `"found"`, `"other"`).Replace(text)), 0o666); err != nil {
		t.Fatal(err)
	}
	_, errs = called(t, 1, "--lab", lab, "study", "run", other, "--set", "search.trials=3", "--dry-run")
	if !strings.Contains(errs, "reported no test/los") || !strings.Contains(errs, "it reported sum and test/loss") {
		t.Error(errs)
	}
	if err := os.WriteFile(other, []byte(strings.Replace(text, `"found"`, `"other"`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 0, "--lab", lab, "study", "run", other, "--set", "search.trials=3")
	for _, args := range [][]string{{}, {"--study", "found"}} { // in a list of all, trials are those of a study; a run of both is the newer one's
		out, _ := called(t, 0, append([]string{"--lab", lab, "runs", "list"}, args...)...)
		if strings.Contains(out, "  other: trial 1, train.sh") == (len(args) > 0) || strings.Contains(out, "  trial 1, train.sh") == (len(args) == 0) {
			t.Errorf("%v: %s", args, out)
		}
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
