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

	"github.com/alecthomas/kong"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/train"
)

// otherwise are the commands that the walk does not make, and why.
var otherwise = map[string]string{
	"engine check": "needs PyTorch, and minutes: see package parity",
	"worker":       "joins a coordinator; it prints its document when it is stopped",
	"bench queue":  "starts itself again as a thousand workers",
	"serve":        "ends when it is told to: see TestServe…",
}

// slowCalls are those that take long: the whole test makes them. Other tests read the JSON of a study's page and of its recipe's.
var slowCalls = []string{"demo ", "bench peak", "bench gemm", "bench slots", "reproduce tb-fig1 ", "reproduce md-fig1 --built-in --dry-run", "study report "}

// jsonCalls are calls of every command, on a lab with a finished and a failed run of the study smoothing. HASH is the finished run.
var jsonCalls = []string{
	"demo --scale smoke --out OUT/demo", "demo memorization --scale smoke --out OUT/memorization", "demo minority --out OUT/minority", "demo theory --out OUT/theory", "train TOML --again", "train TOML", "train --print-config", "train --list-settings",
	"solve ce --k 3 --d 4 --n 2", "solve relu3 --k 3 --d 4 --n 2 --optimizer gd --iters 5", "solve noisy-features", "solve mse --lw 0",
	"dilation", "dilation --curve 5", "dilation --sweep eta=0.01,2,c-md=0.5", "dilation --fit PAIRS --out OUT/fit",
	"landscape --out OUT/landscape", "landscape --position 1,0.5",
	"reproduce --list", "reproduce tb-fig1 --out OUT/tb", "reproduce tb-fig1 --out OUT/tb --results OUT/results", "reproduce md-fig1 --built-in --dry-run", "reproduce zhou-fig1 --out OUT/zhou --results OUT/results", "reproduce md-fig1 --dry-run --built-in --seeds 1", "results OUT/results",
	"measure NPZ", "measure NPZ --state-out OUT/a.ncs", "measure NPZ --means OUT/a.ncs --state-out OUT/b.ncs", "measure --merge OUT/a.ncs",
	"study init --script SCRIPT", "study run STUDY --dry-run", "study run STUDY", "study status tiny", "study resume tiny", "study retry tiny", "study rename tiny small", "study rename small tiny", "study tag tiny paper", "study archive tiny", "study list", "study archive tiny --undo", "study judge tiny", "study measure tiny", "study export tiny",
	"study report tiny --out OUT/study", "study cancel tiny", "study rm tiny",
	"report HASH --out OUT/report", "export", "export HASH --tensorboard OUT/events",
	"runs add tiny HISTORY", "runs list", "runs show HASH", "runs diff HASH HASH", "runs check HASH", "runs gc", "runs rm HASH", "lab copy OUT/copy", "lab copy OUT/rows --numbers", "lab merge OUT/rows", "lab check",
	"data list", "data check --data-dir OUT", "data get nosuch",
	"bench peak", "bench gemm --repeats 1", "bench train --net resnet18-adapt --width 2 --batch 2 --steps 1", "bench scaling --net resnet18-adapt --width 2 --batch 2 --steps 1 --thread-counts 1,16", "bench layers --net resnet18-adapt --width 2 --batch 2 --steps 1",
	"bench slots --time 20ms", "bench measure --n 200 --d 8 --k 4", "solve deep --starts 2", "solve imbalanced --k 4", "solve sphere --k 4 --starts 1", "version", "completion bash", "completion words -- runs", "licenses", "help", "help train", "--version", "--help", "solve --help",
}

// TestJSONIsOneDocumentOfEveryCommand makes a call of every command with --json. What fails prints nothing on standard output.
func TestJSONIsOneDocumentOfEveryCommand(t *testing.T) {
	longtest.Only(t)
	fill, lab := jsonFiles(t)
	made, commands := map[string]bool{}, tree(t)
	for _, words := range jsonCalls {
		args := append([]string{"--lab", lab, "--json"}, strings.Fields(fill.Replace(words))...)
		if call, err := kong.Trace(commands, args); err == nil && call.Error == nil && call.Selected() != nil {
			made[call.Selected().Path()] = true
		}
		if !longtest.Whole() && slices.ContainsFunc(slowCalls, func(s string) bool { return strings.HasPrefix(words, s) }) {
			continue
		}
		var out, errs bytes.Buffer
		code := run(t.Context(), args, &out, &errs)
		if code != exitOK {
			if out.Len() > 0 || words != "data get nosuch" {
				t.Errorf("%s: exit code %d, %.200q: %s", words, code, &out, &errs)
			}
			continue
		}
		var document any
		dec := json.NewDecoder(&out)
		dec.UseNumber()
		if err := dec.Decode(&document); err != nil || dec.More() {
			t.Errorf("%s: %v, more: %v", words, err, err == nil && dec.More())
		}
		numbersAsText(t, words, "", document)
	}
	for _, leaf := range commands.Model.Leaves(true) {
		if path := leaf.Path(); !made[path] && otherwise[path] == "" {
			t.Errorf("%s is not called", path)
		}
	}
}

// numbersAsText finds texts that are numbers, NaN or infinite ones among them: they should be numbers, or null.
func numbersAsText(t *testing.T, words, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			whole := at + "." + k
			if whole != ".facts[].value" && !strings.HasSuffix(whole, ".effect.sides") { // as a page prints it, with its uncertainty or unit; expressions
				numbersAsText(t, words, at+"."+k, x)
			}
		}
	case []any:
		for _, x := range v {
			numbersAsText(t, words, at+"[]", x)
		}
	case string:
		var x float64
		bare := strings.ToLower(strings.TrimLeft(v, "+-"))
		if bare == "nan" || bare == "inf" || bare == "infinity" || json.Unmarshal([]byte(v), &x) == nil {
			t.Errorf("%s: %s is the text %q", words, at, v)
		}
	}
}

// jsonFiles makes what the calls name and returns a replacer that fills it in.
func jsonFiles(t *testing.T) (*strings.Replacer, string) {
	t.Helper()
	dir := t.TempDir()
	lab, at := filepath.Join(dir, "lab"), func(name string) string { return filepath.Join(dir, name) }
	const config = "[data]\nname = 'glyphs'\npipeline = 'plain'\nsamples_per_class = 20\ntest_samples_per_class = 10\n[net]\ndepth = 1\nwidth = 4\n[run]\nepochs = 1\nbatch = 20\n"
	study := "[study]\nname = 'tiny'\n[grid]\nloss.kind = ['ce', 'ls']\n" + strings.NewReplacer("[data]", "[base.data]", "[net]", "[base.net]", "[run]", "[base.run]").Replace(config) +
		"\n[[claim]]\nid = 'a'\nsays = 'b'\nkind = 'less'\nleft = 'final(\"train.loss\")'\nright = '1'\n"
	for name, text := range map[string]string{"run.toml": config, "study.toml": study, "train.py": "print()\n",
		"pairs.csv": "memorization,dilation,loss\n1,2,ce\n2,4.1,ce\n3,5.9,ce\n1,1.5,ls\n2,3.1,ls\n3,4.4,ls\n"} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	features := make([]float64, 40*3)
	labels := make([]int64, 40)
	for i := range labels {
		labels[i] = int64(i % 4)
		for j := range 3 {
			features[3*i+j] = float64((i*7+j*5)%11) + float64(i%4)*float64(j)
		}
	}
	var b bytes.Buffer
	if err := arrayfile.WriteNPZ(&b, []arrayfile.Array{arrayfile.Of("features", []int{40, 3}, features), arrayfile.Of("labels", []int{40}, labels)}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("f.npz"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("history.jsonl"), []byte(`{"epoch": 1, "values": {"train/nc1_pinv": 0.5}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("out"), 0o700); err != nil {
		t.Fatal(err)
	}
	var done train.Result
	stdout, _ := called(t, exitOK, "--lab", lab, "--json", "train", at("run.toml"), "--seed", "7")
	decodeOnly(t, stdout, &done)
	return strings.NewReplacer("OUT", at("out"), "TOML", at("run.toml"), "STUDY", at("study.toml"), "SCRIPT", at("train.py"), "PAIRS", at("pairs.csv"), "NPZ", at("f.npz"), "HISTORY", at("history.jsonl"), "HASH", done.Run[:12]), lab
}

// TestWrongCallsOfEveryCommandExitWith2 makes the same mistakes with every command; the share with every third flag of each.
func TestWrongCallsOfEveryCommandExitWith2(t *testing.T) {
	lab := filepath.Join(t.TempDir(), "none")
	wrong := func(args ...string) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // whatever is accepted by mistake ends at once
		var out, errs bytes.Buffer
		if code := run(ctx, append([]string{"--lab", lab}, args...), &out, &errs); code != exitUsage || out.Len() > 0 || errs.Len() == 0 {
			t.Errorf("%q: exit code %d, %.100q, %q", args, code, &out, &errs)
		}
	}
	for _, leaf := range tree(t).Model.Leaves(true) {
		path := strings.Fields(leaf.Path())
		with := func(more ...string) { wrong(append(append([]string{}, path...), more...)...) }
		with("--no-such-flag")
		required, many := 0, false
		for _, arg := range leaf.Positional {
			if arg.Required {
				required++
			}
			many = many || arg.IsCumulative()
		}
		if required > 0 {
			with()
		}
		if !many {
			with("a", "b", "c", "d")
		}
		for i, f := range leaf.Flags {
			if (i+len(path[0]))%longtest.Of(3, 1) != 0 {
				continue
			}
			if words := choices(f.Value); len(words) > 0 {
				with("--"+f.Name, words[0]+"x")
			}
			if kind := kindOf(f); (kind == "integer" || kind == "float64") && f.Tag.Get(keyTag) == "" {
				with("--"+f.Name, "many")
			}
			if !f.IsBool() {
				with("--" + f.Name)
			}
		}
		if leaf.Name == "help" {
			wrong("help", "no-such-command")
		}
	}
	wrong("no-such-command")
	wrong("study", "no-such-command")
	wrong("study")
}

// TestFailuresExitWith1 reads a lab that is not there.
func TestFailuresExitWith1(t *testing.T) {
	lab := filepath.Join(t.TempDir(), "none")
	for _, words := range []string{"runs list", "runs show abc", "runs check", "study list", "study status x", "study report x", "study export x", "study resume x",
		"report", "export", "lab copy " + filepath.Join(t.TempDir(), "copy")} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{"--lab", lab}, strings.Fields(words)...), &out, &errs); code != exitFailed || out.Len() > 0 || !strings.Contains(errs.String(), "no lab") {
			t.Errorf("%s: exit code %d, %q, %q", words, code, &out, &errs)
		}
	}
}
