//go:build unix

package cli

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"collapse.example/collapse/internal/store"
)

// smallRuns trains runs that differ in loss and noise and returns their lab.
func smallRuns(t *testing.T) (lab string) {
	t.Helper()
	lab = t.TempDir()
	for _, differ := range [][]string{{"--loss", "ce", "--noise", "0"}, {"--loss", "ls", "--noise", "0.2"}} {
		args := []string{"--lab", lab, "train", "--data", "glyphs", "--epochs", "2", "--width", "8", "--depth", "1", "--batch", "50",
			"--set", "data.pipeline=plain", "--set", "data.samples_per_class=50", "--set", "data.test_samples_per_class=20"}
		out, _ := called(t, exitOK, append(args, differ...)...)
		for _, want := range []string{"after epoch 2", "NC1  within-class variability", "NC4", "train", "test", "collapse --lab " + lab + " report "} {
			if !strings.Contains(out, want) {
				t.Fatalf("train says no %q:\n%s", want, out)
			}
		}
		if lines := strings.Count(out, "\n"); lines > 20 {
			t.Errorf("train ends in %d lines:\n%s", lines, out)
		}
	}
	return lab
}

func TestRunsListSaysWhatRunsAre(t *testing.T) {
	lab := smallRuns(t)
	out, _ := called(t, exitOK, "--lab", lab, "runs", "list")
	for _, want := range []string{"mlp 1×8, glyphs/2, ls, noise 0.2\n", "mlp 1×8, glyphs/2, ce\n", "TEST ACC", "  2  "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	var rows []listedRun
	stdout, _ := called(t, exitOK, "--lab", lab, "--json", "runs", "list")
	decodeOnly(t, stdout, &rows)
	if len(rows) != 2 || *rows[0].Epochs != 2 || !(*rows[0].Results["test/accuracy"] > 0) || !(*rows[0].Results["train/nc1_pinv"] > 0) {
		t.Fatalf("%+v", rows)
	}
	for i := range rows {
		rows[i].words = strings.Split(rows[i].What, ", ")
		rows[i].brief = append(rows[i].words[:len(rows[i].words):len(rows[i].words)], strings.Fields("and many more words than there is room for")...)
	}
	var text strings.Builder
	a := &app{stdout: &text}
	printRuns(a, rows, 60)
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(line); n > 61 {
			t.Errorf("a line of %d characters on a screen of 60: %s", n-1, line)
		}
	}
	if !strings.HasPrefix(text.String(), "in all of them: mlp 1×8, glyphs/2\n") || !strings.Contains(text.String(), "ls, noise") ||
		strings.Contains(text.String(), "…") || strings.Count(text.String(), " for\n") != 2 {
		t.Errorf("on a screen of 60:\n%s", &text)
	}
}

// TestRunsListHasTheLastMeasuredEpoch: a run that is measured every few epochs keeps what it had when it is interrupted between two.
func TestRunsListHasTheLastMeasuredEpoch(t *testing.T) {
	dir := t.TempDir()
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	claim, _, err := lab.Lease(store.Spec{Kind: store.Train, Config: map[string]any{"run": map[string]any{"epochs": 9}}})
	if err != nil {
		t.Fatal(err)
	}
	var parts []store.Part
	for epoch, measured := range []string{"accuracy", "accuracy", "loss"} {
		parts = append(parts, store.Part{Lease: claim, EpochRows: store.EpochRows{Epoch: int64(epoch + 1), Rows: []store.Value{
			{Key: store.Key{Series: "epoch", Split: "test", Measure: measured}, Step: int64(epoch + 1), Value: 0.25 * float64(epoch+1)}}}})
	}
	if _, err := lab.AppendAll(parts); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(claim.Interrupt(), lab.Close()); err != nil {
		t.Fatal(err)
	}
	var rows []listedRun
	stdout, _ := called(t, exitOK, "--lab", dir, "--json", "runs", "list")
	decodeOnly(t, stdout, &rows)
	if got := rows[0].Results["test/accuracy"]; got == nil || *got != 0.5 || rows[0].Results["train/accuracy"] != nil {
		t.Errorf("test accuracy %v, want that of the second epoch, and no train accuracy: %s", got, stdout)
	}
}

// TestTellingSettings: the seed of the noise adds nothing to the seed; a schedule that changes with the loss adds nothing to it.
func TestTellingSettings(t *testing.T) {
	settings := []map[string]any{
		{"loss.kind": "ce", "optim.schedule.kind": "step", "run.seed": 1.0, "data.noise_seed": 1.0},
		{"loss.kind": "ce", "optim.schedule.kind": "step", "run.seed": 2.0, "data.noise_seed": 2.0},
		{"loss.kind": "mse", "optim.schedule.kind": "cosine", "run.seed": 1.0, "data.noise_seed": 1.0},
	}
	if got := tellingOf(settings, []string{"data.noise_seed", "loss.kind", "optim.schedule.kind", "run.seed"}); !slices.Equal(got, []string{"run.seed"}) {
		t.Errorf("%q", got)
	}
}

func TestExportedJSONHasNumbers(t *testing.T) {
	lab := smallRuns(t)
	stdout, _ := called(t, exitOK, "--lab", lab, "--json", "export")
	var rows []map[string]any
	decodeOnly(t, stdout, &rows)
	values := map[any]bool{}
	for _, r := range rows {
		values[r["data.noise"]] = true
		if _, number := r["value"].(float64); !number && (r["value"] != nil || r["missing"] == "") {
			t.Fatalf("%v", r)
		}
	}
	if !values[0.0] || !values[0.2] || len(values) != 2 {
		t.Errorf("data.noise is %v", values)
	}
}

// TestRunsAreChosenAndOrdered by their settings and by what they reported.
func TestRunsAreChosenAndOrdered(t *testing.T) {
	file, lab := scriptStudy(t, strings.Replace(scriptGrid, "[0.0, 0.5]", "[0.0, 10, 9]", 1))
	called(t, exitOK, "--lab", lab, "study", "run", file)
	for _, c := range []struct{ want, args string }{
		{"0 9 10", "--sort wd"},
		{"10 9 0", "--sort wd --reverse"},
		{"10 9", "--sort test/loss --reverse --limit 2"},
		{"0 9 10", "--sort test/loss"},
		{"0 10 9", "--reverse"},
		{"9", "--where wd=9.0 --where lr=0.1"},
		{"", "--where wd=9.0 --where lr=0.2"},
	} {
		var rows []listedRun
		out, _ := called(t, exitOK, append([]string{"--lab", lab, "--json", "runs", "list"}, strings.Fields(c.args)...)...)
		decodeOnly(t, out, &rows)
		var got []string
		for _, row := range rows {
			var config struct{ Wd json.Number }
			if err := json.Unmarshal(row.Config, &config); err != nil {
				t.Fatal(err)
			}
			got = append(got, config.Wd.String())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, wanted %q", c.args, got, c.want)
		}
	}
	if out, errs := called(t, exitOK, "--lab", lab, "runs", "list", "--where", "lr=0.2"); !strings.Contains(errs, "no run has lr=0.2") {
		t.Errorf("%s%s", out, errs)
	}
	if out, _ := called(t, exitOK, "--lab", lab, "runs", "list", "--sort", "sum", "--limit", "1"); !strings.Contains(out, "  sum  ") || !strings.Contains(out, "  10  ") || !strings.Contains(out, "wd ") {
		t.Error(out)
	}
	if out, _ := called(t, exitOK, "--lab", lab, "runs", "list", "--where", "wd=9"); !strings.Contains(out, "train.sh, lr 0.1, wd 9\n") {
		t.Error(out)
	}
	if out, _ := called(t, exitOK, "--lab", lab, "runs", "list", "--where", "horizon=4"); strings.Count(out, "\n") != 4 {
		t.Error(out)
	}
	for args, want := range map[string]string{
		"--where w=1":       "no run has a setting w; did you mean wd?",
		"--where wd":        "wanted KEY=VALUE",
		"--sort test/loss2": "no run here has a setting or a value test/loss2; did you mean test/loss?",
	} {
		if _, errs := called(t, exitUsage, append([]string{"--lab", lab, "runs", "list"}, strings.Fields(args)...)...); !strings.Contains(errs, want) {
			t.Errorf("%s: %s; wanted %q", args, errs, want)
		}
	}
}
