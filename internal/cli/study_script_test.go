//go:build unix

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/question"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/coordinator"
)

// shellTrainer is a trainer without any library: its loss follows from its settings, its checkpoints hold what it has added up.
const shellTrainer = `
lr=0 wd=0
while [ $# -gt 0 ]; do case $1 in --lr) lr=$2;; --wd) wd=$2;; esac; shift 2; done
sum=0; e=$((COLLAPSE_FROM_EPOCH + 1))
[ $COLLAPSE_FROM_EPOCH = 0 ] || sum=$(cat "$COLLAPSE_DIR/ckpt/$COLLAPSE_FROM_EPOCH/sum")
echo "$COLLAPSE_FROM_EPOCH $COLLAPSE_EPOCHS" >> log
while [ $e -le $COLLAPSE_EPOCHS ]; do
  sum=$((sum + e))
  mkdir -p "$COLLAPSE_DIR/ckpt/.tmp"; echo $sum > "$COLLAPSE_DIR/ckpt/.tmp/sum"; mv "$COLLAPSE_DIR/ckpt/.tmp" "$COLLAPSE_DIR/ckpt/$e"
  loss=$(awk "BEGIN { print ($lr - 0.1)^2 + $wd + 1 / $e }")
  echo "{\"generation\": $COLLAPSE_GENERATION, \"epoch\": $e, \"values\": {\"test/loss\": $loss, \"sum\": $sum}}" >> "$COLLAPSE_EVENTS"
  e=$((e + 1))
done
echo "{\"generation\": $COLLAPSE_GENERATION, \"done\": true}" >> "$COLLAPSE_EVENTS"
`

const scriptGrid = `
[study]
name = "mine"
[trainer]
command = ["sh", "train.sh"]
epochs = 4
args = "flags"
[base]
lr = 0.1
[grid]
wd = [0.0, 0.5]
`

const scriptSearch = `
[study]
name = "found"
[trainer]
command = ["sh", "train.sh"]
epochs = 9
args = "flags"
[base]
wd = 0
[search]
sampler = "%s"
schedule = "%s"
trials = 9
batch = 3
metric = "test/loss"
goal = "min"
[search.space]
lr = { uniform = [0.0, 1.0] }
`

// scriptStudy writes a study of the shell trainer, and returns its file and the name of a lab.
func scriptStudy(t *testing.T, text string) (file, lab string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"train.sh": shellTrainer, "study.toml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "study.toml"), filepath.Join(dir, "lab")
}

func TestAStudyOfAShellScript(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	if out, _ := called(t, 0, "--lab", lab, "study", "run", file, "--dry-run"); !strings.Contains(out, "mine: 2 runs of a script, 2 to compute") {
		t.Error(out)
	}
	out, errs := called(t, 0, "--lab", lab, "--json", "study", "run", file)
	var done executed
	if err := json.Unmarshal([]byte(out), &done); err != nil || done.Done != 2 || done.Failed != 0 {
		t.Fatalf("%s: %v", out, err)
	}
	if !strings.Contains(errs, "wd 0.5") || !strings.Contains(errs, "test/loss 0.25") {
		t.Errorf("progress: %s", errs)
	}
	if out, _ := called(t, 0, "--lab", lab, "runs", "list"); !strings.Contains(out, "train.sh, wd 0.5") || !strings.Contains(out, "done    4 ") {
		t.Error(out)
	}
	called(t, 0, "--lab", lab, "runs", "check")
	out, _ = called(t, 0, "--lab", lab, "export", "mine")
	if head, _, _ := strings.Cut(out, "\n"); !strings.HasSuffix(head, ",wd") || strings.Count(out, ",loss,") != 8 || !strings.Contains(out, ",epoch,4,,,sum,10,") {
		t.Errorf("%s", out)
	}
	out, _ = called(t, 0, "--lab", lab, "--json", "export", "mine")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != 2*4*3 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	events := filepath.Join(t.TempDir(), "events")
	called(t, 0, "--lab", lab, "export", "mine", "--tensorboard", events)
	if found, _ := filepath.Glob(filepath.Join(events, "wd_0.5-*", "*tfevents*")); len(found) != 1 {
		t.Errorf("event files %q", found)
	}
	called(t, 0, "--lab", lab, "study", "report", "mine", "--out", filepath.Join(t.TempDir(), "page"))
	called(t, 0, "--lab", lab, "study", "run", file) // nothing is left to compute
	if text, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "log")); string(text) != "0 4\n0 4\n" {
		t.Errorf("started %q", text)
	}
}

// scriptClaims are questions about the shell trainer, whose loss follows from wd: .5 more of it is .5 more loss.
const scriptClaims = `
[[claim]]
id = "decay"
says = "decay adds to the loss"
kind = "more"
left = 'final("test/loss", {"wd": 0.5})'
right = 'final("test/loss", {"wd": 0})'
early = true
[[claim]]
id = "unknown"
says = "as above, without a word on unfitted runs"
kind = "more"
left = 'final("test/loss", {"wd": 0.5})'
right = 'final("test/loss", {"wd": 0})'
[[drawing]]
title = "Loss of mine"
[[drawing.panel]]
x = "epoch"
y = "test/loss"
curves = ["wd"]
`

// TestAStudyIsJudgedByItsOwnClaims: with a trainer to which the seed is noise, and with one that the seed does not change.
func TestAStudyIsJudgedByItsOwnClaims(t *testing.T) {
	text := strings.Replace(scriptGrid, "[study]", "[study]\nseeds = 6", 1) + scriptClaims
	file, lab := scriptStudy(t, text)
	noisy := strings.Replace(shellTrainer, "1 / $e }", "1 / $e + .01 * sin($seed * $e) }", 1)
	noisy = strings.Replace(noisy, "--wd) wd=$2;;", "--wd) wd=$2;; --seed) seed=$2;;", 1)
	script := filepath.Join(filepath.Dir(file), "train.sh")
	if err := os.WriteFile(script, []byte(noisy), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, errs := called(t, 0, "--lab", lab, "study", "run", file); !strings.Contains(errs, "verdicts on its 2 claims") {
		t.Error(errs)
	}
	judged := func(name string) map[string]judge.Claim {
		t.Helper()
		out, _ := called(t, 0, "--lab", lab, "--json", "study", "judge", name)
		var found judgedStudy
		if err := json.Unmarshal([]byte(out), &found); err != nil || found.Study != "mine" || found.Runs != 12 || found.Of != 12 {
			t.Fatalf("%s: %v", out, err)
		}
		byID := map[string]judge.Claim{}
		for _, c := range found.Claims {
			byID[c.ID] = c
		}
		return byID
	}
	for claims, told := range map[string]bool{"mine": true, file: false} {
		if out, errs := called(t, 0, "--lab", lab, "study", "judge", claims); strings.Contains(errs, "takes them as they are now") != told || strings.Contains(out, "takes them") {
			t.Errorf("%s: %s %s", claims, out, errs)
		}
	}
	misspelt := filepath.Join(filepath.Dir(file), "misspelt.toml")
	if err := os.WriteFile(misspelt, []byte(strings.Replace(text, `"test/loss", {`, `"test/los", {`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, _ := called(t, 0, "--lab", lab, "study", "judge", misspelt); !strings.Contains(out, "has no test/los; did you mean test/loss?") {
		t.Error(out)
	}
	found := judged("mine")
	if c := found["decay"]; c.Verdict != judge.Holds || c.Source != judge.Ours || c.Effect == nil || len(c.Effect.Cells) != 1 || c.Effect.Cells[0].Seeds != 6 || math.Abs(float64(c.Effect.Cells[0].Value)-.5) > .02 {
		t.Errorf("%+v", c)
	}
	if c := found["unknown"]; c.Verdict != judge.Holds || len(c.Statistics) > 0 {
		t.Errorf("%+v", c)
	}
	// A claim of today's file, on the runs that are there.
	if err := os.WriteFile(file, []byte(strings.Replace(text, `kind = "more"`, `kind = "less"`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if found = judged(file); found["decay"].Verdict != judge.Fails {
		t.Errorf("%+v", found["decay"])
	}
	page := filepath.Join(t.TempDir(), "page")
	if out, _ := called(t, 0, "--lab", lab, "study", "report", "mine", "--out", page); !strings.Contains(out, "Claims of this study (") || strings.Contains(out, "Ours") {
		t.Errorf("the report heads the user's claims otherwise: %s", out)
	}
	html, err := os.ReadFile(filepath.Join(page, "index.html"))
	if err != nil || !strings.Contains(string(html), "decay adds to the loss") || !strings.Contains(string(html), "Loss of mine") {
		t.Errorf("%v: the page lacks claim or drawing", err)
	}
	// A wrong question is refused before anything runs.
	if err := os.WriteFile(file, []byte(strings.Replace(text, `"wd": 0.5`, `"wdd": 0.5`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, `"wdd", which is not a setting; did you mean wd?`) {
		t.Error(errs)
	}
	// Seeds that change nothing are no replicates.
	if err := os.WriteFile(script, []byte(shellTrainer), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 0, "--lab", lab, "study", "run", file)
	if c := judged("mine")["decay"]; c.Verdict != judge.CannotTell || !strings.Contains(c.Reason, "gave the same run") {
		t.Errorf("%+v", c)
	}
}

// TestASearchKeepsItsQuestions: the lab has the text of a search with all defaults, and its claims and drawings.
func TestASearchKeepsItsQuestions(t *testing.T) {
	text := fmt.Sprintf(scriptSearch, "random", "full") + scriptClaims
	file, _ := scriptStudy(t, text)
	f, err := study.ReadFile(file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	want, err := question.Parse(text)
	if err != nil || len(want.Claims) != 2 || len(want.Drawings) != 1 {
		t.Fatalf("%+v, %v", want, err)
	}
	if kept, err := question.Parse(f.Source); err != nil || !reflect.DeepEqual(kept, want) {
		t.Errorf("kept %+v (%v), want %+v", kept, err, want)
	}
}

// TestAScriptThatNeverWorksIsStopped: after a few equal failures nothing else is tried; failures of some runs stop nothing.
func TestAScriptThatNeverWorksIsStopped(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, "[study]", "[study]\nseeds = 6", 1))
	script := filepath.Join(filepath.Dir(file), "train.sh")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(script, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("echo 'NameError: no lr' >&2; exit 3")
	out, errs := called(t, 1, "--lab", lab, "--threads", "1", "study", "run", file)
	if !strings.Contains(errs, "stopped, since 5 runs in a row failed alike") || !strings.Contains(errs, "NameError: no lr") || strings.Contains(errs, "12/12") {
		t.Errorf("%s\n%s", out, errs)
	}
	write("case $* in *'--wd 0 --seed 1'|*'--seed 1 --wd 0') ;; *) echo 'NameError: no lr' >&2; exit 3;; esac\n" + shellTrainer)
	if _, errs := called(t, 1, "--lab", lab, "--threads", "1", "study", "run", file); !strings.Contains(errs, "11 runs failed") {
		t.Error(errs)
	}
	called(t, 0, "--lab", lab, "study", "retry", "mine") // the run that worked counts then, too
	if _, errs := called(t, 1, "--lab", lab, "--threads", "1", "study", "run", file); !strings.Contains(errs, "11 runs failed") {
		t.Error(errs)
	}
}

// TestASearchOfAScriptThatNeverWorksIsStopped too, and fails where each of its few trials does.
func TestASearchOfAScriptThatNeverWorksIsStopped(t *testing.T) {
	text := strings.NewReplacer("test/loss", "val/f1", `goal = "min"`, `goal = "max"`).Replace(fmt.Sprintf(scriptSearch, "random", "full"))
	file, lab := scriptStudy(t, text)
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte("echo one; echo \"ModuleNotFoundError: No module named 'collapse'\" >&2; exit 3"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file, "--set", `search.goal=""`); !strings.Contains(errs, "is a large or a small val/f1 better?") {
		t.Error(errs)
	}
	_, errs := called(t, 1, "--lab", lab, "--threads", "1", "study", "run", file)
	if !strings.Contains(errs, "stopped, since 5 runs in a row failed alike") || !strings.Contains(errs, "pip install ./python") || strings.Contains(errs, "9/9") {
		t.Error(errs)
	}
	out, _ := called(t, 0, "--lab", lab, "study", "status", "found")
	if strings.Contains(out, `\n`) || !strings.Contains(out, "No module named 'collapse'\n") || !strings.Contains(out, "  TRIAL  EPOCHS  val/f1  STATUS") || !strings.Contains(out, "study run FILE, with the study's file") {
		t.Error(out)
	}
	few := filepath.Join(t.TempDir(), "lab")
	if out, errs := called(t, 1, "--lab", few, "--threads", "1", "study", "run", file, "--set", "search.trials=2"); !strings.Contains(errs, "all 2 runs failed") || !strings.Contains(out, "2 of 2 trials begun, 0 of at most 18 epochs of trials spent") {
		t.Errorf("%s%s", out, errs)
	}
}

// TestAStoppedScriptIsContinuedByTheSameCall, since nothing else says where the script is.
func TestAStoppedScriptIsContinuedByTheSameCall(t *testing.T) {
	var said strings.Builder
	a := &app{ctx: t.Context(), errors: &said, flags: &program{Lab: "lab"}, args: []string{"study", "run", "my study.toml"}, again: true}
	a.report(&coordinator.StoppedError{Studies: []string{"s", "t-2"}, Cause: context.Canceled})
	if !strings.HasSuffix(said.String(), "; continue with: collapse study run 'my study.toml'\n") || a.resume("s") != "collapse study run 'my study.toml'" {
		t.Errorf("%q, %q", said.String(), a.resume("s"))
	}
	if a.again = false; !strings.HasSuffix(a.resume("s", "t-2"), " study resume s t-2") {
		t.Error(a.resume("s", "t-2"))
	}
}

// Rungs go on from one another, and the best trial is near the best setting.
func TestSearchesOverAScriptsOwnSettings(t *testing.T) {
	longtest.Only(t)
	for _, c := range [][2]string{{"bayes", "hyperband"}, {"random", "asha"}, {"random", "full"}} {
		t.Run(c[0]+" "+c[1], func(t *testing.T) {
			file, lab := scriptStudy(t, fmt.Sprintf(scriptSearch, c[0], c[1]))
			out, _ := called(t, 0, "--lab", lab, "--json", "study", "run", file)
			var found searched
			if err := json.Unmarshal([]byte(out), &found); err != nil || found.Failed != 0 || len(found.Searches) != 1 {
				t.Fatalf("%s: %v", out, err)
			}
			s := found.Searches[0]
			if s.Best == 0 || s.Metric != "test/loss" || s.Trials[s.Best-1].Epochs != 9 || *s.Trials[s.Best-1].Value > 1 {
				t.Errorf("%+v", s)
			}
			text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "log"))
			if err != nil {
				t.Fatal(err)
			}
			if rungs := strings.Contains(string(text), "\n1 3\n") || strings.Contains(string(text), "\n3 9\n"); rungs != (c[1] != "full") {
				t.Errorf("from and to: %q", text)
			}
			r, err := store.OpenReader(lab)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			best := s.Trials[s.Best-1].Run
			points, err := r.Series(best, store.Key{Series: "epoch", Measure: "sum"})
			if err != nil || len(points) != 9 || points[8].Value != 45 {
				t.Errorf("%+v, %v: what was added up over the rungs", points, err)
			}
			page := filepath.Join(t.TempDir(), "page")
			if out, _ := called(t, 0, "--lab", lab, "study", "report", "found", "--out", page); !strings.Contains(out, "Best of 9 trials: test/loss ") || !strings.Contains(out, "with lr ") {
				t.Error(out)
			}
			if html, err := os.ReadFile(filepath.Join(page, "index.html")); err != nil || strings.Contains(string(html), ">test.loss<") || !strings.Contains(string(html), "test/loss is to be low") || strings.Contains(string(html), "in the terminal phase") || strings.Contains(string(html), "train acc.") {
				t.Errorf("%v: the page does not call the metric what the script does, or says what the script did not report", err)
			}
			if out, _ := called(t, 0, "--lab", lab, "study", "status", "found"); !strings.Contains(out, "best") { // read back from the lab, without the script
				t.Error(out)
			}
		})
	}
}

// Scripts start for a file that the user names, or where --allow-scripts says so; nowhere else.
func TestWhoMayStartScripts(t *testing.T) {
	file, lab := scriptStudy(t, scriptGrid)
	started := filepath.Join(filepath.Dir(file), "log")
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte("echo x >> log; exit 1"), 0o666); err != nil {
		t.Fatal(err)
	}
	called(t, 1, "--lab", lab, "study", "run", file)
	if err := os.Remove(started); err != nil {
		t.Fatal(err)
	}
	called(t, 0, "--lab", lab, "study", "retry", "mine")
	for _, args := range [][]string{{"study", "resume", "mine"}, {"study", "run", "mine"}} {
		if _, errs := called(t, 1, append([]string{"--lab", lab}, args...)...); !strings.Contains(errs, "--allow-scripts DIR") {
			t.Errorf("%q: %s", args, errs)
		}
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("a script was started")
	}
	called(t, 1, "--lab", lab, "study", "resume", "mine", "--allow-scripts", filepath.Dir(file))
	if _, err := os.Stat(started); err != nil {
		t.Error("no script was started")
	}
}

func TestWhatIsWrongWithAScriptsStudy(t *testing.T) {
	for change, want := range map[string]string{
		"epochs = 4|epochs = 0":                              "[trainer] epochs is 0",
		`command = ["sh", "train.sh"]|command = []`:          "[trainer] command is missing",
		`command = |comand = `:                               "[trainer] command is missing",
		`command = ["sh", "train.sh"]|command = ["true"]`:    "[trainer] code is missing",
		`epochs = 4|epochs = 4` + "\ncode = [\"../*\"]":      "is not in the folder",
		`epochs = 4|epochs = 4` + "\ncode = [\"none*.py\"]":  `"none*.py" names no file`,
		`epochs = 4|epochs = 4` + "\nsilence = \"soon\"":     `silence is "soon"`,
		`args = "flags"|args = "json"`:                       `args is "json"`,
		`epochs = 4|epochs = 4` + "\nepoch = 3":              "unknown key trainer.epoch",
		"lr = 0.1|run.batch = 5":                             "the lab's own section",
		"lr = 0.1|\"a b\" = 5":                               "wanted a name of Latin letters",
		"lr = 0.1|lr = 2020-01-01T00:00:00Z\nrun.epochs = 0": "wanted 1 to",
		"[grid]|[grid]\nlr = []":                             "[grid] lr has no values",
	} {
		from, to, _ := strings.Cut(change, "|")
		file, lab := scriptStudy(t, strings.Replace(scriptGrid, from, to, 1))
		if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, want) {
			t.Errorf("%s: %s", change, errs)
		}
		if _, err := os.Stat(lab); err == nil {
			t.Errorf("%s: a lab was made", change)
		}
		if _, errs := called(t, 2, "--lab", lab, "study", "run", file); strings.Contains(errs, "[base] lr: ") {
			t.Errorf("%s: a script's settings are its own: %s", change, errs)
		}
	}
	file, lab := scriptStudy(t, strings.Replace(fmt.Sprintf(scriptSearch, "bayes", "hyperband"), `metric = "test/loss"`, "", 1))
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, "metric is missing") {
		t.Error(errs)
	}
}

// A claim reads whatever a script has reported, and its settings.
func TestAClaimOnAScriptsColumns(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, "[study]", "[study]\nseeds = 3", 1))
	called(t, 0, "--lab", lab, "study", "run", file)
	r, err := store.OpenReader(lab)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	members, err := r.StudyRuns("mine")
	if err != nil || len(members) != 6 {
		t.Fatalf("%d runs, %v", len(members), err)
	}
	var hashes []string
	for _, m := range members {
		hashes = append(hashes, m.Hash)
	}
	runs, err := judge.Load(r, hashes...)
	if err != nil {
		t.Fatal(err)
	}
	seeds := map[uint64]int{}
	for i := range runs {
		seeds[runs[i].Seed]++
		v, ok, why := runs[i].Final("test", "loss")
		if !ok || v != map[string]float64{"0": 0.25, "0.5": 0.75}[runs[i].Settings["wd"]] {
			t.Errorf("wd %s: %v %s", runs[i].Settings["wd"], v, why)
		}
	}
	if len(seeds) != 3 {
		t.Errorf("seeds %v", seeds)
	}
}

func TestStudyInit(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "net.py")
	text := "p.add_argument('--lr', type=float, default=0.1, help='x')\np.add_argument(\"--name\", default='a')\np.add_argument('--deep', default=True)\np.add_argument('--epochs', default=3)\np.add_argument('--f', default=open('x'))\n"
	if err := os.WriteFile(script, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out, _ := called(t, 0, "study", "init", "--script", script)
	if !strings.Contains(out, "run = collapse.run()") || !strings.Contains(out, "collapse study run "+filepath.Join(dir, "net.toml")) {
		t.Error(out)
	}
	written, err := os.ReadFile(filepath.Join(dir, "net.toml"))
	if err != nil || !strings.Contains(string(written), "\nepochs = 3 ") || !strings.Contains(string(written), "lr = 0.1\nname = \"a\"\ndeep = true\n") || !strings.Contains(string(written), `command = ["python3", "net.py"]`) {
		t.Errorf("%s, %v", written, err)
	}
	if out, _ := called(t, 0, "--lab", filepath.Join(dir, "lab"), "study", "run", filepath.Join(dir, "net.toml"), "--dry-run"); !strings.Contains(out, "net: 1 runs of a script") {
		t.Error(out)
	}
	if _, errs := called(t, 1, "study", "init", "--script", script); !strings.Contains(errs, "net.toml exists") {
		t.Error(errs)
	}
	shell := filepath.Join(dir, "go.sh")
	if err := os.WriteFile(shell, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, _ := called(t, 0, "study", "init", "--script", shell); !strings.Contains(out, "$COLLAPSE_EVENTS") {
		t.Error(out)
	}
}

// TestClaimsNameSettingsOfTheCommandLine: a setting that only --set gives is one, for the study that ran and for a newer text of its file.
func TestClaimsNameSettingsOfTheCommandLine(t *testing.T) {
	text := strings.Replace(scriptGrid, "wd = [0.0, 0.5]", "", 1) + scriptClaims[:strings.Index(scriptClaims, "[[drawing]]")]
	file, lab := scriptStudy(t, text)
	if _, errs := called(t, 2, "--lab", lab, "study", "run", file); !strings.Contains(errs, `names "wd", which is not a setting`) {
		t.Errorf("without --set: %s", errs)
	}
	called(t, 0, "--lab", lab, "study", "run", file, "--set", "wd=[0, 0.5]")
	for _, name := range []string{"mine", file} {
		if out, _ := called(t, 0, "--lab", lab, "study", "judge", name); !strings.Contains(out, "2 of 2 runs are finished") || !strings.Contains(out, "decay adds to the loss") {
			t.Errorf("judge %s: %s", name, out)
		}
	}
}

// TestAStudyHasTables: a table of a script's own values, judged, on the page of the report and in files beside it.
func TestAStudyHasTables(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, "[study]", "[study]\nseeds = 2", 1)+"[[table]]\ntitle = \"Loss by decay\"\nrows = [\"wd\"]\nvalues = [\"test/loss\"]\n")
	called(t, 0, "--lab", lab, "study", "run", file)
	out, _ := called(t, 0, "--lab", lab, "--json", "study", "judge", "mine")
	var found judgedStudy
	if err := json.Unmarshal([]byte(out), &found); err != nil || len(found.Tables) != 1 || len(found.Tables[0].Lines) != 2 || len(found.Tables[0].Lines[0].Cells) != 1 {
		t.Fatalf("%s: %v", out, err)
	}
	zero, half := found.Tables[0].Lines[0], found.Tables[0].Lines[1]
	if zero.Settings[0] != "0" || half.Settings[0] != "0.5" || zero.Cells[0].N != 2 || math.Abs(float64(half.Cells[0].Mean-zero.Cells[0].Mean)-.5) > 1e-9 {
		t.Errorf("%+v", found.Tables[0])
	}
	if text, _ := called(t, 0, "--lab", lab, "study", "judge", "mine"); !strings.Contains(text, "Loss by decay\nwd ") || !strings.Contains(text, "Student’s 95 % interval") {
		t.Error(text)
	}
	page := filepath.Join(t.TempDir(), "page")
	shown, _ := called(t, 0, "--lab", lab, "study", "report", "mine", "--out", page)
	if !strings.Contains(shown, "tables   "+filepath.Join(page, "tables")) {
		t.Error(shown)
	}
	for name, want := range map[string]string{"index.html": "Loss by decay", "tables/1.tex": `\begin{tabular}{lrr}`, "tables/1.csv": "0.5,test/loss,"} {
		if text, err := os.ReadFile(filepath.Join(page, name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q: %v", name, want, err)
		}
	}
}

// TestFlagsOfAScript: settings that are passed as flags count as read, and one that the script's parser does not know is told with what to do.
func TestFlagsOfAScript(t *testing.T) {
	for text, c := range map[string]struct {
		code int
		says string
	}{
		`echo "{\"generation\": $COLLAPSE_GENERATION, \"epoch\": 4, \"values\": {\"test/loss\": null}}" >> "$COLLAPSE_EVENTS"; echo "{\"generation\": $COLLAPSE_GENERATION, \"done\": true, \"unasked\": [\"lr\"]}" >> "$COLLAPSE_EVENTS"`: {0, "test/loss no value"},
		`echo "train.py: error: unrecognized arguments: --lr 0.1"; exit 2`: {1, `args = "flags" passes every setting and the seed as a flag: let the script take --lr 0.1, or`},
	} {
		file, lab := scriptStudy(t, scriptGrid)
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, errs := called(t, c.code, "--lab", lab, "study", "run", file)
		status, _ := called(t, 0, "--lab", lab, "study", "status", "mine")
		if out := errs + status; !strings.Contains(out, c.says) || strings.Contains(out, "never asked for") || c.code != 0 && !strings.Contains(status, "its last words: train.py: error: unrecognized arguments: --lr 0.1\n") {
			t.Errorf("%s", out)
		}
	}
}

// TestWhatAClaimAveragesOverIsSaid: a claim that selects one of two settings is about a mean over the other, unless cells name that.
func TestWhatAClaimAveragesOverIsSaid(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, "[base]\nlr = 0.1\n[grid]\n", "[grid]\nlr = [0.1, 0.2]\n", 1)+scriptClaims)
	called(t, 0, "--lab", lab, "study", "run", file)
	const said = `each seed gives a mean over lr; with cells = ["lr"] each would be judged`
	if out, _ := called(t, 0, "--lab", lab, "study", "judge", file); strings.Count(out, said) != 2 {
		t.Error(out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{`cells = ["lr"]`, `where = { lr = 0.2 }`} {
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), `kind = "more"`, `kind = "more"`+"\n"+more)), 0o666); err != nil {
			t.Fatal(err)
		}
		if out, _ := called(t, 0, "--lab", lab, "study", "judge", file); strings.Contains(out, "a mean over") {
			t.Errorf("%s: %s", more, out)
		}
	}
}
