//go:build unix

package script

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
)

func TestMain(m *testing.M) {
	defer faulttest.InMemory()()
	faulttest.SideBySide(24) // they mostly wait
	faulttest.Main(m, map[string]func(args []string) error{"lab": labProcess})
}

// prelude is shared by the shell scripts of these tests: they report without any library.
const prelude = `
say() { printf '%s\n' "$1" >> "$COLLAPSE_EVENTS"; }
report() { say "{\"generation\": $COLLAPSE_GENERATION, \"epoch\": $1, \"values\": {\"test/loss\": $2, \"lr\": 0.5}}"; }
checkpoint() { mkdir -p "$COLLAPSE_DIR/ckpt/.tmp" && echo "state of $1" > "$COLLAPSE_DIR/ckpt/.tmp/state" && mv "$COLLAPSE_DIR/ckpt/.tmp" "$COLLAPSE_DIR/ckpt/$1"; }
finish() { say "{\"generation\": $COLLAPSE_GENERATION, \"done\": true}"; }
e=$((COLLAPSE_FROM_EPOCH + 1))
`

// good is a script that does everything right.
const good = `while [ $e -le $COLLAPSE_EPOCHS ]; do checkpoint $e; report $e 0.$e; e=$((e + 1)); done; finish`

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openLab(t *testing.T, dir string) *store.Lab {
	t.Helper()
	lab, err := store.Open(dir, store.Options{})
	must(t, err)
	t.Cleanup(func() { lab.Close() })
	return lab
}

// written puts a script into a folder of its own, and returns a run of it and the folder.
func written(t *testing.T, text string, epochs int) (Spec, string) {
	t.Helper()
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "train.sh"), []byte(prelude+text+"\n"), 0o666))
	code, err := DigestCode(folder, []string{"train.sh"})
	must(t, err)
	return Spec{Command: []string{"/bin/sh", "train.sh"}, Code: code, Epochs: epochs, Horizon: epochs, Settings: map[string]any{"lr": 0.1}}, folder
}

// ran computes a run of a script in a new lab.
func ran(t *testing.T, text string, epochs int, change func(*Spec, *Options)) (*store.Lab, store.Run, error) {
	t.Helper()
	spec, folder := written(t, text, epochs)
	opts := Options{Folder: folder, Grace: 300 * time.Millisecond}
	if change != nil {
		change(&spec, &opts)
	}
	lab := openLab(t, t.TempDir())
	err := Run(t.Context(), lab, spec, opts)
	hash, _, bad := spec.Identity()
	must(t, bad)
	run, bad := lab.Run(hash)
	must(t, bad)
	return lab, run, err
}

// losses are the test losses of a run by epoch, NaN where missing.
func losses(t *testing.T, lab *store.Lab, hash string) map[int64]float64 {
	t.Helper()
	points, err := lab.Series(hash, store.Key{Series: series, Split: "test", Measure: "loss"})
	must(t, err)
	found := map[int64]float64{}
	for _, p := range points {
		if found[p.Step] = p.Value; p.Missing != "" {
			found[p.Step] = math.NaN()
		}
	}
	return found
}

// whole checks that a finished run has every row once, its last checkpoint, and nothing left over.
func whole(t *testing.T, lab *store.Lab, hash string, epochs int) {
	t.Helper()
	run, err := lab.Run(hash)
	must(t, err)
	if run.Status != store.Done {
		t.Fatalf("the run is %s: %s", run.Status, run.Error)
	}
	found := losses(t, lab, hash)
	for e := 1; e <= epochs; e++ {
		want, err := strconv.ParseFloat(fmt.Sprintf("0.%d", e), 64)
		must(t, err)
		if got, ok := found[int64(e)]; !ok || got != want {
			t.Errorf("epoch %d: loss %v, %v; wanted %v", e, got, ok, want)
		}
	}
	if len(found) != epochs {
		t.Errorf("%d epochs have a loss; wanted %d", len(found), epochs)
	}
	inspection, err := Inspect(lab.Reader, run)
	if err != nil || len(inspection.Wrong)+len(inspection.Stray) > 0 {
		t.Errorf("%+v, %v", inspection, err)
	}
	dir := rundir.Dir(lab.RunDir(hash))
	if list, err := dir.Checkpoints(); err != nil || len(list) != 1 || list[0] != epochs {
		t.Errorf("checkpoints %v, %v", list, err)
	}
}

func TestAShellScriptIsARun(t *testing.T) {
	var reported []int
	lab, run, err := ran(t, "echo some words; "+good, 5, func(_ *Spec, o *Options) { o.Reported = func(e int) { reported = append(reported, e) } })
	must(t, err)
	whole(t, lab, run.Hash, 5)
	if !slices.IsSorted(reported) || len(reported) == 0 || reported[len(reported)-1] != 5 {
		t.Errorf("reported %v", reported)
	}
	if text, err := os.ReadFile(rundir.Dir(lab.RunDir(run.Hash)).ScriptLog()); string(text) != "some words\n" {
		t.Errorf("log %q, %v", text, err)
	}
}

func TestWhatAScriptIsTold(t *testing.T) {
	seed := uint64(math.MaxUint64)
	lab, run, err := ran(t, `cat "$COLLAPSE_RUN" > told; echo "$@" > line; pwd > where; `+good, 2, func(s *Spec, o *Options) {
		s.Seed, s.Args, s.Horizon = &seed, Flags, 9
		s.Settings = map[string]any{"wd": 0.001, "widths": []any{1, 2}, "name": "a b", "deep": true}
		t.Setenv("CUDA_VISIBLE_DEVICES", "3")
		t.Cleanup(func() {
			read := func(name string) string { text, _ := os.ReadFile(filepath.Join(o.Folder, name)); return string(text) }
			if got, want := read("line"), "--deep --name a b --wd 0.001 --widths 1 2 --seed 18446744073709551615\n"; got != want {
				t.Errorf("the line is %q, wanted %q", got, want)
			}
			if got, _ := filepath.EvalSymlinks(o.Folder); read("where") != got+"\n" {
				t.Errorf("started in %q", read("where"))
			}
			for _, want := range []string{`"seed": 18446744073709551615`, `"epochs": 2`, `"horizon": 9`, `"from_epoch": 0`, `"generation": 1`, `"device": "3"`, `"wd": 0.001`, `"deep": true`} {
				if !strings.Contains(read("told"), want) {
					t.Errorf("run.json lacks %s: %s", want, read("told"))
				}
			}
		})
	})
	must(t, err)
	whole(t, lab, run.Hash, 2)
	for _, part := range []string{`"run":{"epochs":2,"horizon":9,"seed":18446744073709551615}`, `"trainer":{"code":{"train.sh":"`, `"wd":0.001`} {
		if !strings.Contains(string(run.Config), part) {
			t.Errorf("the configuration %s lacks %s", run.Config, part)
		}
	}
}

// TestWhatFailsARun: the message says what is wrong and where, and the run is failed.
func TestWhatFailsARun(t *testing.T) {
	t.Parallel()
	line := func(text string) string { return fmt.Sprintf("say '%s'; sleep 60", text) }
	for name, c := range map[string]struct{ script, want string }{
		"never reports":            {"exit 0", "after epoch 0 of 3 without saying that it was done"},
		"dies":                     {"report 1 0.5; echo 'no such file' >&2; exit 3", "exit status 3 after epoch 1 of 3; its last words:\nno such file"},
		"ends early":               {"report 1 0.5; exit 0", "after epoch 1 of 3 without saying"},
		"done early":               {"report 1 0.5; finish", "done after epoch 1 of 3; wanted a report of epoch 3"},
		"garbage":                  {line("loss 0.5"), `line 1: "loss 0.5": invalid character`},
		"binary":                   {"head -c 100 /dev/zero >> \"$COLLAPSE_EVENTS\"; say x; sleep 60", "line 1"},
		"two objects":              {line(`{"generation": 1, "done": true}{}`), "more than one JSON object"},
		"unknown key":              {line(`{"generation": 1, "epoch": 1, "value": {}}`), `unknown field "value"`},
		"no generation":            {line(`{"epoch": 1}`), "generation is missing"},
		"text for a number":        {line(`{"generation": 1, "epoch": 1, "values": {"loss": "small"}}`), `"small" is not a number`},
		"huge number":              {line(`{"generation": 1, "epoch": 1, "values": {"loss": 1e999}}`), "1e999"},
		"fraction of an epoch":     {line(`{"generation": 1, "epoch": 1.5}`), "epoch"},
		"epoch 0":                  {"report 0 0.5; sleep 60", "line 1: epoch 0; wanted 1 to 3"},
		"epoch too late":           {"report 4 0.5; sleep 60", "line 1: epoch 4; wanted 1 to 3"},
		"epoch twice":              {"report 1 0.5; report 1 0.5; sleep 60", "line 2: epoch 1; epoch 1 was reported before"},
		"out of order":             {"report 2 0.5; report 1 0.5; sleep 60", "line 2: epoch 1; epoch 2 was reported before"},
		"after done":               {"report 3 0.5; finish; report 3 0.5; sleep 60", "line 3: it comes after"},
		"huge line":                {"head -c 3000000 /dev/zero | tr '\\0' x >> \"$COLLAPSE_EVENTS\"; sleep 60", "line 1: more than 1048576 bytes"},
		"endless file":             {"cat /dev/zero >> \"$COLLAPSE_EVENTS\"", "line 1: more than 1048576 bytes"},
		"endless lines":            {`yes '{"generation": 7}' >> "$COLLAPSE_EVENTS"`, "more than 1000 lines are of other generations"},
		"cut short":                {"report 1 0.5; printf '{\"gen' >> \"$COLLAPSE_EVENTS\"", "the last line of events.jsonl is cut short"},
		"events cut":               {"report 1 0.5; while [ ! -f reported ]; do sleep 0.05; done; : > \"$COLLAPSE_EVENTS\"; sleep 60", "events.jsonl was cut short"},
		"events replaced":          {"mkfifo other; mv other \"$COLLAPSE_EVENTS\"; sleep 60", "events.jsonl was replaced"},
		"events removed":           {"rm \"$COLLAPSE_EVENTS\"; sleep 60", "events.jsonl was removed"},
		"name":                     {line(`{"generation": 1, "epoch": 1, "values": {"a\nb": 1}}`), "cannot be printed"},
		"empty name":               {line(`{"generation": 1, "epoch": 1, "values": {"test/": 1}}`), "is not a valid name"},
		"features outside":         {line(`{"generation": 1, "epoch": 1, "features": {"train": "/etc"}}`), `features: train is "/etc"; wanted a folder below`},
		"features above":           {line(`{"generation": 1, "epoch": 1, "features": {"train": "captures/../../.."}}`), "wanted a folder below"},
		"features: checkpoints":    {line(`{"generation": 1, "epoch": 1, "features": {"train": "../../ckpt"}}`), "wanted a folder below"},
		"features by a link":       {"ln -s / \"${COLLAPSE_EVENTS%/*}/captures/x\"; " + line(`{"generation": 1, "epoch": 1, "features": {"train": "captures/x/etc"}}`), "is reached by a link"},
		"features that are not":    {line(`{"generation": 1, "epoch": 1, "features": {"train": "captures/1"}}`), "no such file"},
		"features of a split":      {line(`{"generation": 1, "epoch": 1, "features": {"dev": "captures/1"}}`), `"dev" is none of train, test and ood`},
		"features that are broken": {"mkdir -p \"${COLLAPSE_EVENTS%/*}/captures/1\"; " + line(`{"generation": 1, "epoch": 1, "features": {"train": "captures/1"}}`), "has no tap.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			lab, run, err := ran(t, c.script, 3, func(_ *Spec, o *Options) {
				o.Reported = func(int) { must(t, os.WriteFile(filepath.Join(o.Folder, "reported"), nil, 0o666)) }
			})
			var why *FailedError
			if !errors.As(err, &why) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; wanted %q", err, c.want)
			}
			if run.Status != store.Failed || run.Error != fmt.Sprint(err) {
				t.Errorf("the run is %s: %s", run.Status, run.Error)
			}
			if time.Since(start) > 50*time.Second {
				t.Error("the script was waited for")
			}
			if _, err := os.Stat(rundir.Dir(lab.RunDir(run.Hash)).Workspaces()); !os.IsNotExist(err) {
				t.Errorf("the workspace is left: %v", err)
			}
		})
	}
}

func TestNumbersThatAreNone(t *testing.T) {
	lab, run, err := ran(t, `say '{"generation": 1, "epoch": 1, "values": {"test/loss": NaN, "a \"NaN\" b": -Infinity, "c": "NaN"}}'
		say '{"generation": 1, "epoch": 2, "values": {"test/loss": null}}'
		say '{"generation": 1, "epoch": 3, "values": {"test/loss": 0.5}, "done": true}'`, 3, nil)
	must(t, err)
	found := losses(t, lab, run.Hash)
	if len(found) != 3 || !math.IsNaN(found[1]) || !math.IsNaN(found[2]) || found[3] != 0.5 {
		t.Errorf("%v", found)
	}
	points, err := lab.Series(run.Hash, store.Key{Series: series, Measure: `a "NaN" b`})
	if err != nil || len(points) != 1 || points[0].Missing != "the value was infinite" {
		t.Errorf("%+v, %v", points, err)
	}
}

// A line of an overtaken attempt, or of another run, is skipped.
func TestStrangersArePassedOver(t *testing.T) {
	var notes []string
	lab, run, err := ran(t, `say '{"generation": 0, "epoch": 1, "values": {"test/loss": 7}}'; say '{"generation": 1, "run": "abc", "epoch": 2, "values": {"test/loss": 7}}'; `+good, 3,
		func(_ *Spec, o *Options) { o.Note = func(text string) { notes = append(notes, text) } })
	must(t, err)
	whole(t, lab, run.Hash, 3)
	if len(notes) != 1 || !strings.Contains(notes[0], "line 1, is of generation 0") {
		t.Errorf("notes %q", notes)
	}
}

// TestSettingsThatNobodyAskedForAreTold, as far as the study has them.
func TestSettingsThatNobodyAskedForAreTold(t *testing.T) {
	var notes []string
	_, _, err := ran(t, `report 1 0.5; say '{"generation": 1, "done": true, "unasked": ["lr", "other", "seed"]}'`, 1,
		func(s *Spec, o *Options) {
			s.Settings = map[string]any{"lr": 0.1, "wd": 0}
			o.Note = func(text string) { notes = append(notes, text) }
		})
	must(t, err)
	if len(notes) != 1 || !strings.Contains(notes[0], "never asked for lr: runs") {
		t.Errorf("notes %q", notes)
	}
	notes = nil
	_, _, err = ran(t, `report 1 0.5; say '{"generation": 1, "done": true, "unasked": ["lr", "seed"]}'`, 1, func(s *Spec, o *Options) {
		seed := uint64(3)
		s.Settings, s.Seed = map[string]any{"lr": 0.1}, &seed
		o.Note = func(text string) { notes = append(notes, text) }
	})
	must(t, err)
	if len(notes) != 1 || !strings.Contains(notes[0], `never asked for lr and seed, that is for none of its settings, and none is a flag: run.setting("lr") gives one, and args = "flags"`) {
		t.Errorf("notes %q", notes)
	}
	notes = nil
	_, _, err = ran(t, `report 1 0.5; say '{"generation": 1, "done": true, "unasked": ["run.state"]}'`, 1, func(s *Spec, o *Options) {
		s.Args, o.Note = Flags, func(text string) { notes = append(notes, text) }
	})
	must(t, err)
	if len(notes) != 1 || !strings.Contains(notes[0], "saves checkpoints and never asks for run.state") {
		t.Errorf("notes %q", notes)
	}
}

// TestSettingsAsFlags: truth values as argparse takes them, and a text that looks like a flag.
func TestSettingsAsFlags(t *testing.T) {
	s := Spec{Command: []string{"train"}, Settings: map[string]any{"amp": true, "bias": false, "lr": 0.1, "name": "-x", "sizes": []any{3, 4}}}
	for args, want := range map[string]string{
		"":      "train",
		Flags:   "train --amp --lr 0.1 --name=-x --sizes 3 4",
		FlagsNo: "train --amp --no-bias --lr 0.1 --name=-x --sizes 3 4",
	} {
		s.Args = args
		if got := strings.Join(s.line(), " "); got != want {
			t.Errorf("args = %q: %s, want %s", args, got, want)
		}
	}
}

// TestEpochsArePassedToScriptsThatReadThem, unless the study has a setting of that name.
func TestEpochsArePassedToScriptsThatReadThem(t *testing.T) {
	for text, want := range map[string]bool{`p.add_argument("--epochs", type=int)`: true, `p.add_argument('--epochs')`: true, "# --epochs 3": false, "": false} {
		folder := t.TempDir()
		must(t, os.WriteFile(filepath.Join(folder, "t.py"), []byte(text), 0o666))
		if got := slices.Contains((Spec{Code: map[string]string{"t.py": "", "gone.py": ""}}).Flags(folder), epochsFlag); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestEpochsThatAreNotReportedCount(t *testing.T) {
	lab, run, err := ran(t, "report 3 0.3; report 7 0.7; finish", 7, nil)
	must(t, err)
	if found := losses(t, lab, run.Hash); len(found) != 2 || found[7] != 0.7 {
		t.Errorf("%v", found)
	}
	if reached, gap, err := Reach(lab.Reader, run.Hash, 7, 0, 100); reached != 7 || gap != "" || err != nil {
		t.Errorf("reached %d, gap %q, %v", reached, gap, err)
	}
}

func TestAScriptThatHangs(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	_, run, err := ran(t, "trap '' TERM; report 1 0.1; while :; do sleep 0.1; done", 3, func(s *Spec, _ *Options) { s.Silence = 400 * time.Millisecond })
	var why *FailedError
	if !errors.As(err, &why) || !strings.Contains(err.Error(), "reported nothing") || run.LastEpoch != 1 {
		t.Errorf("%v, epoch %d", err, run.LastEpoch)
	}
}

// A user, or the machine, stops a run: it continues from its checkpoint, and its script has ended, even one that resists.
func TestAStoppedRunGoesOn(t *testing.T) {
	t.Parallel()
	for name, deaf := range map[string]string{"willing": "", "deaf": "trap '' TERM; "} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, folder := written(t, deaf+`echo $$ > pid; [ -f again ] || { touch again; checkpoint 1; report 1 0.1; checkpoint 2; report 2 0.2; report 3 9; while :; do sleep 0.1; done; }
				echo $COLLAPSE_FROM_EPOCH > from; cat "$COLLAPSE_DIR/ckpt/$COLLAPSE_FROM_EPOCH/state" >> from; `+good, 5)
			lab := openLab(t, t.TempDir())
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			err := Run(ctx, lab, spec, Options{Folder: folder, Grace: 300 * time.Millisecond, Reported: func(e int) {
				if e == 3 {
					stop()
				}
			}})
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			hash, _, err := spec.Identity()
			must(t, err)
			if run, err := lab.Run(hash); err != nil || run.Status != store.Interrupted {
				t.Fatalf("%s, %v", run.Status, err)
			}
			if pid := number0(t, filepath.Join(folder, "pid")); alive(pid) {
				t.Error("the script lives")
			}
			must(t, Run(t.Context(), lab, spec, Options{Folder: folder}))
			whole(t, lab, hash, 5)
			if text, err := os.ReadFile(filepath.Join(folder, "from")); string(text) != "2\nstate of 2\n" {
				t.Errorf("went on from %q, %v", text, err)
			}
		})
	}
}

func number0(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(t, err)
	return n
}

func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return errors.Is(err, os.ErrNotExist) && syscall.Kill(pid, 0) == nil && !linux()
	}
	state := string(text[strings.LastIndexByte(string(text), ')')+2:])
	return state[0] != 'Z' && state[0] != 'X'
}

func linux() bool { _, err := os.Stat("/proc/self/stat"); return err == nil }

// A run does not continue from a checkpoint that is ahead of the rows.
func TestACheckpointAheadOfTheRows(t *testing.T) {
	spec, folder := written(t, `[ -f again ] || { touch again; checkpoint 1; report 1 0.1; checkpoint 2; kill -KILL $$; }; echo $COLLAPSE_FROM_EPOCH > from; `+good, 4)
	lab := openLab(t, t.TempDir())
	err := Run(t.Context(), lab, spec, Options{Folder: folder})
	var why *FailedError
	if err == nil || errors.As(err, &why) || !strings.Contains(err.Error(), "signal: killed") {
		t.Fatalf("a script that was killed: %v", err) // is tried again
	}
	must(t, Run(t.Context(), lab, spec, Options{Folder: folder}))
	hash, _, _ := spec.Identity()
	whole(t, lab, hash, 4)
	if from := number0(t, filepath.Join(folder, "from")); from != 1 {
		t.Errorf("went on from %d", from)
	}
}

// A rung of a search continues from the one before.
func TestALongerRunGoesOnFromAShorterOne(t *testing.T) {
	t.Parallel()
	spec, folder := written(t, `echo $COLLAPSE_FROM_EPOCH >> from; `+good, 2)
	spec.Horizon = 6
	lab := openLab(t, t.TempDir())
	must(t, Run(t.Context(), lab, spec, Options{Folder: folder}))
	short, _, err := spec.Identity()
	must(t, err)
	var notes []string
	for _, epochs := range []int{5, 6} {
		spec.Epochs = epochs
		hash, _, err := spec.Identity()
		must(t, err)
		must(t, Run(t.Context(), lab, spec, Options{Folder: folder, From: short, Note: func(text string) { notes = append(notes, text) }}))
		whole(t, lab, hash, epochs)
		short = hash
	}
	if text, _ := os.ReadFile(filepath.Join(folder, "from")); string(text) != "0\n2\n5\n" || notes != nil {
		t.Errorf("went on from %q; %q", text, notes)
	}
	spec.Settings = map[string]any{"lr": 0.2} // another run
	must(t, Run(t.Context(), lab, spec, Options{Folder: folder, From: short, Note: func(text string) { notes = append(notes, text) }}))
	if len(notes) != 1 || !strings.Contains(notes[0], "differs in more than run.epochs") {
		t.Errorf("%q", notes)
	}
}

func TestWhatIsRefusedBeforeAnythingStarts(t *testing.T) {
	spec, folder := written(t, "touch started; "+good, 2)
	lab := openLab(t, t.TempDir())
	var not *NotAllowedError
	if err := Run(t.Context(), lab, spec, Options{}); !errors.As(err, &not) {
		t.Errorf("without a folder: %v", err)
	}
	var changed *ChangedError
	must(t, os.WriteFile(filepath.Join(folder, "train.sh"), []byte("rm -rf /nothing"), 0o666))
	if err := Run(t.Context(), lab, spec, Options{Folder: folder}); !errors.As(err, &changed) || !strings.Contains(err.Error(), "train.sh has changed") {
		t.Errorf("other code: %v", err)
	}
	must(t, os.Remove(filepath.Join(folder, "train.sh")))
	if err := Run(t.Context(), lab, spec, Options{Folder: folder}); !errors.As(err, &changed) || !strings.Contains(err.Error(), "is not there") {
		t.Errorf("no code: %v", err)
	}
	if list, err := lab.List(store.Filter{}); err != nil || len(list) != 0 {
		t.Errorf("%d runs, %v", len(list), err)
	}
	var why *FailedError
	spec.Command, spec.Code = []string{"no-such-interpreter"}, nil
	if err := Run(t.Context(), lab, spec, Options{Folder: folder}); !errors.As(err, &why) || !strings.Contains(err.Error(), "no-such-interpreter cannot be started") {
		t.Errorf("no interpreter: %v", err)
	}
}

// A script that writes endlessly to its output neither fills the disk nor stops.
func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	lab, run, err := ran(t, "yes 'many words' | head -c 20000000; "+good, 2, nil)
	must(t, err)
	path := rundir.Dir(lab.RunDir(run.Hash)).ScriptLog()
	for _, p := range []string{path, path + ".old"} {
		if info, err := os.Stat(p); err != nil || info.Size() > mostLog+64<<10 {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// TestALabThatIsMoved: a script whose lab is moved under its feet ends in many ways, none of which is the run's failure. It continues where the
// lab is now.
func TestALabThatIsMoved(t *testing.T) {
	spec, folder := written(t, `if [ $COLLAPSE_FROM_EPOCH = 0 ]; then checkpoint 1; report 1 0.1; until [ -f moved ]; do sleep 0.01; done
		echo x > "$COLLAPSE_DIR/ckpt/state" || exit 3; exit 4; fi; `+good, 3)
	hash, _, err := spec.Identity()
	must(t, err)
	from, to := filepath.Join(t.TempDir(), "lab"), filepath.Join(t.TempDir(), "lab")
	lab := openLab(t, from)
	err = Run(t.Context(), lab, spec, Options{Folder: folder, Grace: 300 * time.Millisecond, Reported: func(int) {
		must(t, os.Rename(from, to))
		must(t, os.WriteFile(filepath.Join(folder, "moved"), nil, 0o666))
	}})
	var why *FailedError
	var moved *store.MovedError
	if !errors.As(err, &moved) || errors.As(err, &why) {
		t.Fatalf("%v", err)
	}
	if err := Run(t.Context(), lab, spec, Options{Folder: folder}); !errors.As(err, &moved) {
		t.Errorf("another attempt: %v", err)
	}
	if _, err := os.Stat(from); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lab's old folder is made again: %v", err)
	}
	lab = openLab(t, to)
	if run, err := lab.Run(hash); err != nil || run.Status != store.Interrupted || run.Error != "" {
		t.Fatalf("the run is %s (%q), %v", run.Status, run.Error, err)
	}
	must(t, Run(t.Context(), lab, spec, Options{Folder: folder}))
	whole(t, lab, hash, 3)
}

// TestManyReportsAtOnce: a script that reports faster than transactions go is stored in few of them, and what is said to be stored is. A line
// that is wrong leaves the rows before it.
func TestManyReportsAtOnce(t *testing.T) {
	const epochs = 8000
	for name, c := range map[string]struct {
		last   string
		stored int
		status store.Status
	}{
		"whole":      {`{"generation": '$COLLAPSE_GENERATION', "epoch": 8000, "values": {"test/loss": 1}}`, epochs, store.Done},
		"wrong line": {`{"generation": '$COLLAPSE_GENERATION', "epoch": 9000}`, epochs - 1, store.Failed},
	} {
		spec, folder := written(t, `i=1; while [ $i -lt 8000 ]; do echo "{\"generation\": $COLLAPSE_GENERATION, \"epoch\": $i, \"values\": {\"test/loss\": 1}}"; i=$((i + 1)); done > all
			cat all >> "$COLLAPSE_EVENTS"; say '`+c.last+`'; finish`, epochs)
		lab := openLab(t, t.TempDir())
		hash, _, err := spec.Identity()
		must(t, err)
		times := 0
		err = Run(t.Context(), lab, spec, Options{Folder: folder, Grace: 300 * time.Millisecond, Reported: func(e int) {
			times++
			if times > epochs/100 {
				return
			}
			if whole, gap, err := Reach(lab.Reader, hash, epochs, 0, math.MaxInt64); int(whole) != e || err != nil {
				t.Errorf("%s: said to be stored up to %d, is up to %d (%s), %v", name, e, whole, gap, err)
			}
		}})
		run, bad := lab.Run(hash)
		if must(t, bad); run.Status != c.status {
			t.Fatalf("%s: %s, %v", name, run.Status, err)
		}
		if found := losses(t, lab, hash); len(found) != c.stored {
			t.Errorf("%s: %d rows", name, len(found))
		}
		if times == 0 || times > epochs/100 {
			t.Errorf("%s: stored in %d transactions", name, times)
		}
	}
}

// Two labs compute the same run from one folder at the same time: each has its own rows and checkpoints, and the folder stays unchanged.
func TestTwoLabsWithOneFolder(t *testing.T) {
	spec, folder := written(t, `e=$((COLLAPSE_FROM_EPOCH + 1)); while [ $e -le $COLLAPSE_EPOCHS ]; do sleep 0.02; checkpoint $e; report $e 0.$e; e=$((e + 1)); done; finish`, 9)
	hash, _, err := spec.Identity()
	must(t, err)
	one, other := openLab(t, t.TempDir()), openLab(t, t.TempDir())
	ended := make(chan error, 2)
	for _, lab := range []*store.Lab{one, other} {
		go func() { ended <- Run(t.Context(), lab, spec, Options{Folder: folder}) }()
	}
	must(t, errors.Join(<-ended, <-ended))
	whole(t, one, hash, 9)
	whole(t, other, hash, 9)
	if list, err := os.ReadDir(folder); err != nil || len(list) != 1 {
		t.Errorf("the folder holds %v, %v", list, err)
	}
}

// A run that somebody takes over is abandoned at once: the script ends, and what it still reports changes nothing.
func TestALostLease(t *testing.T) {
	longtest.Only(t)
	spec, folder := written(t, `echo $$ > pid; report 1 0.1; until [ -f lost ]; do sleep 0.01; done; while :; do sleep 0.05; e=$((e + 1)); report $e 7; done`, 1000)
	dir := t.TempDir()
	lab := openLab(t, dir)
	hash, _, err := spec.Identity()
	must(t, err)
	err = Run(t.Context(), lab, spec, Options{Folder: folder, Reported: func(e int) {
		if e == 1 {
			must(t, lab.Cancel(hash))
			must(t, os.WriteFile(filepath.Join(folder, "lost"), nil, 0o666))
		}
	}})
	if !errors.Is(err, store.ErrLost) {
		t.Fatal(err)
	}
	if alive(number0(t, filepath.Join(folder, "pid"))) {
		t.Error("the script lives")
	}
	if found := losses(t, lab, hash); len(found) != 1 {
		t.Errorf("%v", found)
	}
}

// TestAScriptThatIgnoresItsCheckpoint starts over, and is done: killed after some epochs, or asked to continue a shorter run.
func TestAScriptThatIgnoresItsCheckpoint(t *testing.T) {
	const stubborn = `[ -f again ] && kill=9 || kill=3; touch again
		for e in 1 2 3 4 5; do [ $e -le $COLLAPSE_EPOCHS ] || continue; checkpoint $e; report $e 0.$e; [ $e != $kill ] || kill -9 $$; done; finish`
	spec, folder := written(t, stubborn, 5)
	lab := openLab(t, t.TempDir())
	var failed *FailedError
	var from []int
	attempt := func(spec Spec, shorter string) error {
		return Run(t.Context(), lab, spec, Options{Folder: folder, From: shorter, Grace: 300 * time.Millisecond, Started: func(epoch int) { from = append(from, epoch) }})
	}
	for range 2 { // the first is killed; the second finds that the script begins anew
		if err := attempt(spec, ""); err == nil || errors.As(err, &failed) {
			t.Fatalf("%v", err)
		}
	}
	must(t, attempt(spec, ""))
	hash, _, err := spec.Identity()
	must(t, err)
	whole(t, lab, hash, 5)
	if !slices.Equal(from, []int{0, 3, 0}) {
		t.Errorf("attempts began after epochs %v", from)
	}
	short := spec
	short.Epochs, short.Settings = 2, map[string]any{"lr": 0.2}
	long := short
	long.Epochs = 5
	must(t, attempt(short, ""))
	hash, _, err = short.Identity()
	must(t, err)
	if err := attempt(long, hash); err == nil || errors.As(err, &failed) {
		t.Fatalf("continuing: %v", err)
	}
	must(t, attempt(long, hash))
	hash, _, err = long.Identity()
	must(t, err)
	whole(t, lab, hash, 5)
}
