package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/page"
)

const tinyStudy = `
[study]
seeds = 2
[base]
data.name = "glyphs"
data.samples_per_class = 20
data.test_samples_per_class = 10
data.pipeline = "plain"
net.depth = 1
net.width = 8
run.checkpoint_every = 1
run.epochs = 2
run.batch = 20
[grid]
loss.kind = ["ce", "mse"]
`

// studyFile writes a study's file and returns it with the name of a new lab.
func studyFile(t *testing.T) (file, lab string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "tiny.toml")
	if err := os.WriteFile(file, []byte(tinyStudy), 0o666); err != nil {
		t.Fatal(err)
	}
	return file, filepath.Join(dir, "lab")
}

// called runs the program and returns what it printed, or fails the test if the exit code is another.
func called(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	if got := run(t.Context(), args, &out, &errs); got != code {
		t.Fatalf("collapse %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// TestAStudyFromFileToTable goes through the commands about a study of four runs; the share about its two of the first seed.
func TestAStudyFromFileToTable(t *testing.T) {
	file, lab := studyFile(t)
	var plan struct {
		Study                  string
		Runs, Missing, Workers int
		Seconds                float64
		MemoryBytes            int64 `json:"memory_bytes"`
	}
	out, _ := called(t, 0, "--lab", lab, "--json", "study", "run", file, "--dry-run", "--workers", "2")
	if err := json.Unmarshal([]byte(out), &plan); err != nil || plan.Study != "tiny" || plan.Runs != 4 || plan.Missing != 4 || plan.Workers != 2 ||
		!(plan.Seconds > 0) || plan.MemoryBytes <= 0 {
		t.Fatalf("%s: %v", out, err)
	}
	if _, err := os.Stat(lab); err == nil {
		t.Error("a dry run made a lab")
	}
	seeds := longtest.Of(1, 2)
	runs := 2 * seeds
	out, errs := called(t, 0, "--lab", lab, "--json", "study", "run", file, "--seeds", fmt.Sprint(seeds))
	var done executed
	if err := json.Unmarshal([]byte(out), &done); err != nil || done.Runs != runs || done.Done != runs || done.Failed != 0 || done.Cancelled {
		t.Fatalf("%s: %v", out, err)
	}
	if !strings.Contains(errs, fmt.Sprintf("%d/%[1]d  loss ", runs)) || !strings.Contains(errs, "NC1") {
		t.Errorf("progress: %s", errs)
	}
	out, _ = called(t, 0, "--lab", lab, "study", "status", "tiny")
	if !strings.Contains(out, fmt.Sprintf("tiny: done; %d runs: %[1]d done", runs)) || !strings.Contains(out, longtest.Of("loss mse", "loss mse, seed 2")) {
		t.Error(out)
	}
	out, _ = called(t, 0, "--lab", lab, "study", "list")
	if !strings.Contains(out, "tiny") {
		t.Error(out)
	}
	out, _ = called(t, 0, "--lab", lab, "study", "export", "tiny")
	if lines := strings.Count(out, "\n"); lines < 100 || !strings.HasPrefix(out, "study,run,") {
		t.Errorf("%d lines: %.200s", lines, out)
	}
	table := filepath.Join(t.TempDir(), "t.parquet")
	called(t, 0, "--lab", lab, "study", "export", "tiny", "--parquet", "--out", table)
	if b, err := os.ReadFile(table); err != nil || !strings.HasPrefix(string(b), "PAR1") {
		t.Error(err)
	}
	all, _ := called(t, 0, "--lab", lab, "export")
	if strings.Count(all, "\n") != strings.Count(out, "\n") || strings.Count(all, "\ntiny,") != strings.Count(out, "\ntiny,") || !strings.Contains(out, "\ntiny,") {
		t.Errorf("the lab's table: %.200s", all)
	}
	events := filepath.Join(t.TempDir(), "events")
	for _, command := range []string{"export tiny", "study export tiny"} {
		said, _ := called(t, 0, append(append([]string{"--lab", lab}, strings.Fields(command)...), "--tensorboard", events)...)
		if files, err := filepath.Glob(filepath.Join(events, "loss_*-*", "events.out.tfevents.*")); err != nil || len(files) != runs || !strings.Contains(said, fmt.Sprintf("of %d runs, without ", runs)) {
			t.Errorf("%s: %q, %v; %s", command, files, err, said)
		}
	}
	made := filepath.Join(t.TempDir(), "page")
	called(t, 0, "--lab", lab, "study", "report", "tiny", "--out", made)
	if b, err := os.ReadFile(filepath.Join(made, "index.html")); err != nil || !strings.Contains(string(b), "<svg") || !strings.Contains(string(b), "collapse report ") {
		t.Error(err)
	}
	out, _ = called(t, 0, "--lab", lab, "--json", "study", "report", "tiny", "--out", made, "--run-pages")
	var reported page.Result
	decodeOnly(t, out, &reported)
	spent := reported.Compute
	if spent == nil || spent.Runs != runs || spent.Unknown+spent.OneThread != 0 || spent.FLOP != float64(runs)*2*(28*28*8+8*2+2*2)*2*(3*40+60) || !(spent.CoreHours > 0 && spent.CoreHours < 0.1) {
		t.Errorf("compute %+v", spent)
	}
	var document any
	decodeOnly(t, out, &document)
	numbersAsText(t, "study report", "", document)
	if len(reported.RunPages) != runs {
		t.Errorf("pages %v", reported.RunPages)
	}
	for _, p := range reported.RunPages {
		if b, err := os.ReadFile(p); err != nil || !strings.Contains(string(b), "<svg") {
			t.Error(err)
		}
	}
	called(t, 0, "--lab", lab, "study", "resume", "tiny") // nothing left to do
}

// A former file's claims are not dropped in silence, and the name of a study where a run's is wanted leads to the study's page.
func TestANewFileSaysWhichClaimsItDrops(t *testing.T) {
	file, lab := studyFile(t)
	claim := func(id string) string {
		return "[[claim]]\nid = '" + id + "'\nsays = 'it ends'\nkind = 'less'\nleft = 'final(\"train.nc1_pinv\")'\nright = '1'\n"
	}
	for _, c := range []struct{ claims, note string }{
		{claim("a") + claim("b") + claim("c"), ""},
		{claim("b"), "2 claims of the former file of tiny are not in this one\n"},
		{claim("b"), ""},
		{"", "1 claim of the former file of tiny is not in this one\n"},
	} {
		if err := os.WriteFile(file, []byte(tinyStudy+c.claims), 0o666); err != nil {
			t.Fatal(err)
		}
		_, errs := called(t, exitOK, "--lab", lab, "study", "run", file, "--seeds", "1")
		if !strings.Contains(errs, c.note) || strings.Contains(errs, "former file") != (c.note != "") {
			t.Errorf("wanted %q:\n%s", c.note, errs)
		}
	}
	_, errs := called(t, exitFailed, "--lab", lab, "report", "tiny")
	if !strings.Contains(errs, "tiny is a study, which is drawn by: collapse --lab "+lab+" study report tiny\n") {
		t.Error(errs)
	}
	if _, errs = called(t, exitFailed, "--lab", lab, "report", "other"); strings.Contains(errs, "is a study") || !strings.Contains(errs, `has no run "other"`) {
		t.Error(errs)
	}
}

func TestAFailedRunOfAStudyIsSaidAndRetried(t *testing.T) {
	file, lab := studyFile(t)
	_, errs := called(t, 1, "--lab", lab, "study", "run", file, "--seeds", "1", "--set", "optim.lr=[0.1, 1e38]")
	if !strings.Contains(errs, "2 runs failed; `collapse --lab "+lab+" study status tiny`") {
		t.Error(errs)
	}
	out, _ := called(t, 0, "--lab", lab, "study", "status", "tiny")
	if !strings.Contains(out, "2 done, 0 running, 0 waiting, 2 failed") || !strings.Contains(out, "loss is") {
		t.Error(out)
	}
	out, _ = called(t, 0, "--lab", lab, "study", "retry", "tiny")
	if !strings.Contains(out, "2 failed runs will be tried again") {
		t.Error(out)
	}
	out, _ = called(t, 0, "--lab", lab, "study", "cancel", "tiny")
	if !strings.Contains(out, "study resume tiny") {
		t.Error(out)
	}
}

func TestStudyCallsThatAreWrong(t *testing.T) {
	file, lab := studyFile(t)
	for _, c := range []struct {
		code int
		want string
		args string
	}{
		{2, "did you mean run.epochs?", "study run " + file + " --set run.epoch=3"},
		{2, "needs a study file or a recipe", "study run nosuch --seeds 3"},
		{1, "there is no lab", "study run nosuch"},
		{2, "there is no file nosuch.toml\n", "study run nosuch.toml"},
		{2, "; did you mean " + file + "?", "study run " + strings.Replace(file, ".toml", "s.toml", 1)},
		{2, "[grid] optim.lr is a range to search: it belongs in [search.space]", "study run " + file + " --set optim.lr.log_uniform=[0.1,1]"},
		{2, "cannot join without", "study run " + file + " --workers 0"},
		{2, "leave one out", "study run " + file + " --listen :0 --nats nats://x"},
		{2, "go together", "study run " + file + " --listen :0 --cert " + file},
		{2, "name a file with --out", "study export tiny --parquet"},
		{2, "a spreadsheet is not written", "export tiny --out x.xlsx"},
		{2, "can't be used together", "export tiny --csv --tensorboard x"},
		{2, "can't be used together", "export tiny --out x --tensorboard x"},
		{1, "there is no lab", "export tiny --tensorboard x"},
		{1, "there is no lab", "study status tiny"},
		{1, "holds no token", "worker --connect nats://127.0.0.1:1 --token-file " + file},
	} {
		if _, errs := called(t, c.code, append([]string{"--lab", lab}, strings.Fields(c.args)...)...); !strings.Contains(errs, c.want) {
			t.Errorf("%s: %q lacks %q", c.args, errs, c.want)
		}
	}
}

func TestWorkersJoinByTheCommandLine(t *testing.T) {
	file, lab := studyFile(t)
	notes := &lockedText{}
	ended := make(chan int, 1)
	go func() {
		var out strings.Builder
		ended <- run(t.Context(), []string{"--lab", lab, "study", "run", file, "--workers", "0", "--listen", "127.0.0.1:0"}, &out, notes)
	}()
	url := ""
	for start := time.Now(); url == ""; time.Sleep(20 * time.Millisecond) {
		for _, word := range strings.Fields(notes.String()) {
			if strings.HasPrefix(word, "nats://") {
				url = word
			}
		}
		if time.Since(start) > 30*time.Second {
			t.Fatalf("no address in %q", notes.String())
		}
	}
	token := filepath.Join(lab, "queue.token")
	if info, err := os.Stat(token); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token's mode: %v, %v", info.Mode(), err)
	}
	wrong := filepath.Join(t.TempDir(), "wrong")
	if err := os.WriteFile(wrong, []byte("0123456789abcdef0123\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs := called(t, 1, "worker", "--connect", url, "--token-file", wrong, "--scratch", t.TempDir()); !strings.Contains(errs, "refuses the token") {
		t.Error(errs)
	}
	if _, errs := called(t, 1, "worker", "--connect", url, "--scratch", t.TempDir()); !strings.Contains(errs, "asks for a token; pass --token-file") {
		t.Error(errs)
	}
	if told := notes.String(); strings.Count(told, "a client at 127.0.0.1:") != 1 || !strings.Contains(told, "is turned away: it gave no token") || strings.Contains(told, "authentication error") {
		t.Error(told)
	}
	ctx, stop := context.WithCancel(t.Context())
	worked := make(chan int, 1)
	scratch := t.TempDir()
	go func() {
		var out, errs strings.Builder
		worked <- run(ctx, []string{"worker", "--connect", url, "--token-file", token, "--scratch", scratch, "--slots", "2"}, &out, &errs)
	}()
	if code := <-ended; code != 0 {
		t.Errorf("the study's exit code is %d: %s", code, notes.String())
	}
	stop()
	if code := <-worked; code != 0 {
		t.Errorf("the worker's exit code is %d", code)
	}
	out, _ := called(t, 0, "--lab", lab, "study", "status", "tiny")
	if !strings.Contains(out, "4 runs: 4 done") {
		t.Error(out)
	}
}

// lockedText is what a command prints while a test reads it.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
