package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
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
		{[]string{"measure", "x.npz", "--htlm"}, "did you mean --html?"},
		{[]string{"measure", "x.npz", "--ful"}, "collapse measure has no flag --ful\n"},
		{[]string{"measure", "x.npz", "--lal"}, "did you mean --all?"}, // lab is as near, but every command has it
		{[]string{"measure", "x.npz", "--hel"}, "did you mean --help?"},
		{[]string{"measure", "x.npz", "--html"}, "collapse: --html needs a FILE\n"},
		{[]string{"measure", "x.npz", "--html", "--all"}, "collapse: --html needs a FILE, and --all follows it\n"},
		{[]string{"train", "--resume"}, "collapse: --resume needs a RUN\n"},
		{[]string{"train", "--noise"}, "collapse: --noise needs an ETA\n"},
		{[]string{"--lab", lab, "train", "--data", "glyphs", "--epochs", "-3"}, "collapse: run.epochs: is -3; wanted "},
		{[]string{"--threads", "-1e3", "version"}, "--threads"},
		{[]string{"solve"}, "needs a model: one of mse, rescaled-mse, linear3, relu3, ce, ls, ls-nonneg, noisy-features, relu-plain\n"},
	} {
		code, stdout, stderr := call(t, c.args...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, standard output %q, standard error %q; wanted code 2 and %q", c.args, code, stdout, stderr, c.want)
		}
	}
}

// Each call is as it was, but for numbers below zero behind a flag.
func TestNegativeNumbersBelongToTheirFlag(t *testing.T) {
	for call, want := range map[string]string{
		"train --lr -1 --epochs -2e3": "train --lr=-1 --epochs=-2e3",
		"train --lr=1 -3":             "train --lr=1 -3",
		"train -- --lr -3":            "train -- --lr -3",
		"-3 train --lr 3 -q":          "-3 train --lr 3 -q",
		"measure - --html -":          "measure - --html -",
	} {
		if got := strings.Join(joinNegative(strings.Fields(call)), " "); got != want {
			t.Errorf("%s: got %s, want %s", call, got, want)
		}
	}
}

// The help of solve, which reaches the models without the word model, lists all of them.
func TestHelpOfSolveListsModels(t *testing.T) {
	field, _ := reflect.TypeFor[solveModelCmd]().FieldByName("Model")
	_, stdout, _ := call(t, "solve", "--help")
	words := strings.FieldsFunc(stdout, func(r rune) bool { return strings.ContainsRune(",; \n", r) })
	for _, model := range strings.Split(field.Tag.Get("enum"), ",") {
		if !slices.Contains(words, model) {
			t.Errorf("no %s in\n%s", model, stdout)
		}
	}
}

// Without data a first run is told of the images that need none; one that asked for a data set is not.
func TestTrainingWithoutDataNamesTheBuiltIn(t *testing.T) {
	t.Setenv("COLLAPSE_DATA", "")
	for _, args := range [][]string{{"train"}, {"train", "--data", "mnist"}} {
		_, errs := called(t, exitFailed, append([]string{"--lab", t.TempDir()}, args...)...)
		if got, want := strings.Contains(errs, "--data glyphs"), len(args) == 1; got != want || !strings.Contains(errs, "collapse data get mnist") {
			t.Errorf("%v: %s", args, errs)
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
	lab := t.TempDir()
	code := run(ctx, []string{"--lab", lab, "train", "--data", "glyphs", "--width", "8", "--depth", "1"}, &out, &errs)
	if code != exitInterrupted || !strings.Contains(errs.String(), "continue with: collapse --lab "+lab+" train --resume ") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

// What an interrupted call prints to go on with is the call itself where that makes a page, and names the lab.
func TestInterruptedStudiesSayHowToGoOn(t *testing.T) {
	file, lab := studyFile(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(interruption{syscall.SIGTERM})
	for _, c := range []struct{ args, want string }{
		{"--lab " + lab + " study run " + file, "collapse: study: terminated: 0 of "},
		{"--lab " + lab + " study run " + file, " runs are finished; continue with: collapse --lab " + lab + " study resume "},
		{"reproduce md-fig1 --built-in --seeds 1 --lab " + lab + " --out " + filepath.Join(lab, "page"),
			"continue with: collapse reproduce md-fig1 --built-in --seeds 1 --lab " + lab + " --out " + filepath.Join(lab, "page") + "\n"},
	} {
		var out, errs bytes.Buffer
		code := run(ctx, strings.Fields(c.args), &out, &errs)
		if said := errs.String(); code != exitTerminated || !strings.Contains(strings.Join(strings.Fields(said), " ")+"\n", c.want) || strings.Count(said, "continue with") != 1 {
			t.Errorf("%s: exit code %d: %s", c.args, code, said)
		}
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
		{[]string{"runs", ""}, []string{"add", "check", "diff", "gc", "list", "rm", "show"}},
		{[]string{"runs", "check", "--rep"}, []string{"--repair"}},
		{[]string{"lab", ""}, []string{"check", "copy", "merge"}},
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
