package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// playCollapse makes TestPlayCollapse run the program with the arguments behind --.
const playCollapse = "COLLAPSE_TEST_PLAY"

func TestMain(m *testing.M) {
	defer faulttest.InMemory()()
	if os.Getenv(playCollapse) == "" { // a process that a test started has that test's
		config, err := os.MkdirTemp("", "collapse-config-") // not the tester's own
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(config)
		os.Setenv("XDG_CONFIG_HOME", config)
		if cache, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" { // where tests that build a program find what is built
			os.Setenv("GOCACHE", filepath.Join(cache, "go-build"))
		}
		os.Setenv("XDG_CACHE_HOME", config)
	}
	m.Run() // the code it ends with is heeded by whoever called TestMain
}

// call runs the program as a user would and returns what came out.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(context.Background(), args, &out, &err)
	return code, out.String(), err.String()
}

func TestWrongCallsExitWith2AndSayWhatToDo(t *testing.T) {
	lab := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"trian"}, `did you mean train?`},
		{[]string{"train", "--epoch", "3"}, "did you mean --epochs?"},
		{[]string{"--lab", lab, "train", "--set", "optim.lrr=3"}, "optim.lr"},
		{[]string{"--lab", lab, "train", "--loss", "cee"}, "ce, ls"},
		{[]string{"train", "--resume", "abc", "--epochs", "3"}, "--resume takes its configuration"},
		{[]string{"completion", "tcsh"}, "bash"},
	} {
		code, stdout, stderr := call(t, c.args...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, standard output %q, standard error %q; wanted code 2 and %q", c.args, code, stdout, stderr, c.want)
		}
	}
}

func TestRunsOfAMissingLabIsAnError(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "nowhere")
	code, stdout, stderr := call(t, "--lab", missing, "runs", "list")
	if code != exitFailed || stdout != "" || !strings.Contains(stderr, "nowhere") {
		t.Errorf("exit code %d, standard output %q, standard error %q", code, stdout, stderr)
	}
}

func TestJSONIsOneDocumentAndNothingElse(t *testing.T) {
	lab := filepath.Join(t.TempDir(), "lab")
	small := []string{"--lab", lab, "--json", "train", "--data", "glyphs", "--epochs", "2", "--width", "16", "--depth", "1",
		"--batch", "50", "--set", "data.pipeline=plain", "--set", "data.samples_per_class=50", "--set", "data.test_samples_per_class=20"}
	code, stdout, stderr := call(t, small...)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var trained train.Result
	decodeOnly(t, stdout, &trained)
	if trained.Epochs != 2 || trained.Values["train/loss"] <= 0 || len(trained.Run) != 64 {
		t.Errorf("got %+v", trained)
	}

	code, stdout, stderr = call(t, "--lab", lab, "--json", "runs", "list")
	var rows []runRow
	decodeOnly(t, stdout, &rows)
	if code != exitOK || len(rows) != 1 || rows[0].Run != trained.Run || rows[0].Status != "done" {
		t.Errorf("runs list: exit code %d, %+v, %s", code, rows, stderr)
	}

	code, stdout, stderr = call(t, "--lab", lab, "--json", "runs", "show", trained.Run[:8])
	var shown struct {
		Values []lastValue `json:"values"`
	}
	decodeOnly(t, stdout, &shown)
	found := slices.ContainsFunc(shown.Values, func(v lastValue) bool {
		return v.Split == "train" && v.Measure == "loss" && v.Step == 2 && *v.Value == trained.Values["train/loss"]
	})
	if code != exitOK || !found {
		t.Errorf("runs show: exit code %d, %+v, %s", code, shown, stderr)
	}
}

func decodeOnly(t *testing.T, text string, into any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	if dec.More() {
		t.Fatalf("more than one document in %q", text)
	}
}

func TestInterruptedRunExitsWith130AndSaysHowToGoOn(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"--lab", t.TempDir(), "train", "--data", "glyphs", "--width", "8", "--depth", "1"}, &out, &errs)
	if code != exitInterrupted || !strings.Contains(errs.String(), "--resume") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

func openLab(t *testing.T, dir string) *store.Lab {
	t.Helper()
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return lab
}

func TestCompletionKnowsCommandsFlagsAndValues(t *testing.T) {
	var flags program
	parser := newParser(&flags, &bytes.Buffer{}, &bytes.Buffer{})
	for _, c := range []struct {
		words []string
		want  []string
	}{
		{[]string{"--", "tr"}, []string{"train"}},
		{[]string{"runs", ""}, []string{"add", "check", "gc", "list", "rm", "show"}},
		{[]string{"runs", "check", "--rep"}, []string{"--repair"}},
		{[]string{"lab", ""}, []string{"check", "copy"}},
		{[]string{"train", "--trace"}, []string{"--trace", "--trace-steps"}},
		{[]string{"demo", "memorization", "--scale", ""}, []string{"default", "smoke"}},
		{[]string{"demo", ""}, []string{"collapse", "memorization", "minority", "theory"}},
		{[]string{"completion", "b"}, []string{"bash"}},
	} {
		if got := candidates(parser.Model, c.words); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.words, got, c.want)
		}
	}
}

func TestVersionNamesTheKernel(t *testing.T) {
	code, stdout, _ := call(t, "--json", "version")
	var v struct{ Version, Kernel, Arch string }
	decodeOnly(t, stdout, &v)
	if code != exitOK || v.Version == "" || v.Kernel == "" || v.Arch == "" {
		t.Errorf("exit code %d: %q", code, stdout)
	}
}

func TestCommandLineCanBeRepeatedInAShell(t *testing.T) {
	a := &app{args: []string{"--lab", "my lab", "train", "--set", "data.name='x'"}}
	if got, want := a.commandLine(), `collapse --lab 'my lab' train --set 'data.name='\''x'\'''`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
