package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"collapse.example/collapse/data"
	"collapse.example/collapse/optim"
)

func TestEveryProblemIsReportedAtOnce(t *testing.T) {
	text := `[data]
name = "minst"
noise = 1.5
sampels_per_class = 3

[net]
depth = "nine"
batchnorm = true

[optim]
learning_rate = 0.1
momentum = 0
[optim.schedule]
kind = "cosin"
gama = 0.5
[run]
lr = 0.1
epochs = 2.5
keep = "every=0"
[optimiser]
x = 1
`
	want := `c.toml:2: data.name: is "minst"; wanted one of ` + strings.Join(dataNames, ", ") + `; did you mean "mnist"?
c.toml:3: data.noise: is 1.5; wanted between 0 and 1
c.toml:4: data.sampels_per_class: unknown key; did you mean data.samples_per_class?
c.toml:7: net.depth: is "nine"; wanted a whole number
c.toml:8: net.batchnorm: unknown key; did you mean net.batch_norm?
c.toml:11: optim.learning_rate: unknown key; did you mean optim.lr?
c.toml:14: optim.schedule.kind: is "cosin"; wanted one of step, multistep, cosine, constant; did you mean "cosine"?
c.toml:15: optim.schedule.gama: unknown key; did you mean optim.schedule.gamma?
c.toml:17: run.lr: unknown key; did you mean optim.lr?
c.toml:18: run.epochs: is 2.5; wanted a whole number
c.toml:19: run.keep: is "every=0"; wanted last, every=N (N at least 1) or all
c.toml:20: optimiser: unknown key; collapse train --print-config lists every key`
	_, err := Load("c.toml", []byte(text))
	var e *ConfigError
	if !errors.As(err, &e) {
		t.Fatalf("error is %T: %v", err, err)
	}
	// A problem without a line comes first: nesterov is on by default and momentum was set to 0.
	nesterov := "optim.nesterov: needs optim.momentum above 0; set nesterov = false or momentum = 0.9\n"
	if diff := cmp.Diff(nesterov+want, err.Error()); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

func TestTextThatIsNotTOML(t *testing.T) {
	for _, text := range []string{"[data\nname = 1", "a = ", "data = 3", "[data]\nname = \"x\"\nname = \"y\""} {
		_, err := Load("c.toml", []byte(text))
		var e *ConfigError
		if !errors.As(err, &e) || len(e.Problems) == 0 || e.Problems[0].Line == 0 {
			t.Errorf("%q: %v; wanted a problem with its line", text, err)
			continue
		}
		if strings.Contains(err.Error(), "train.") || strings.Contains(err.Error(), "struct") {
			t.Errorf("%q: message speaks of Go: %v", text, err)
		}
	}
}

func TestOverrides(t *testing.T) {
	c, err := Load("", nil, "optim.lr=0.05", "loss.kind=ls", `data.dir="/a b"`, "net.batch_norm = false", "optim.schedule.every=7", "optim.momentum=0", "optim.nesterov=false")
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Optim.LR, want.Loss.Kind, want.Data.Dir, want.Net.BatchNorm, want.Optim.Schedule.Every = 0.05, "ls", "/a b", false, 7
	want.Optim.Momentum, want.Optim.Nesterov = 0, false
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// An override takes precedence over the file, and its mistakes are not attributed to a line of the file.
	_, err = Load("c.toml", []byte("[optim]\nlr = 0.1\n"), "optim.lr=fast", "run.epoch=3", "nonsense")
	want2 := `optim.lr: is "fast"; wanted a number
run.epoch: unknown key; did you mean run.epochs?
"nonsense": wanted section.key=value`
	if err == nil || err.Error() != want2 {
		t.Errorf("got %v, wanted %s", err, want2)
	}
}

// mustPlan parses a configuration that is possible.
func mustPlan(t testing.TB, c Config) Plan {
	t.Helper()
	plan, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// drawConfig draws a configuration that Check accepts, far from the default in many fields.
func drawConfig(t *rapid.T) Config {
	c := Default()
	for _, f := range c.fields() {
		switch p := f.ptr.(type) {
		case *string:
			if f.choices != nil {
				*p = rapid.SampledFrom(f.choices).Draw(t, f.key)
			} else if f.key == "run.keep" {
				*p = rapid.SampledFrom([]string{"last", "all", "every=3"}).Draw(t, f.key)
			} else if f.key == "run.save_features" {
				*p = rapid.SampledFrom([]string{"none", "last", "all", "every=3", "1,2"}).Draw(t, f.key)
			} else if f.list != "" {
				*p = rapid.SampledFrom([]string{"3", "10, 20", "1,2,3"}).Draw(t, f.key)
			} else {
				*p = rapid.String().Draw(t, f.key)
			}
		case *int:
			*p = rapid.IntRange(int(f.limits.lo), int(min(f.limits.hi, 1e6))).Draw(t, f.key)
		case *uint64:
			*p = rapid.Uint64Range(0, math.MaxInt64).Draw(t, f.key)
		case *bool:
			*p = rapid.Bool().Draw(t, f.key)
		case *float64:
			*p = rapid.Float64Range(max(0.001, f.limits.lo), max(0.999, 2*f.limits.lo)).Draw(t, f.key)
		}
	}
	c.Data.Size = rapid.SampledFrom([]int{0, 28, 32, 84}).Draw(t, "size")
	switch c.Data.Name {
	case glyphs:
		c.Data.Samples, c.Data.TestSamples, c.Data.FirstSamples = 0, 0, false
	case folder:
		c.Data.Color = false
	default:
		c.Data.Size, c.Data.Color = 0, false
	}
	if c.Data.SamplesPerClass > 0 || c.Data.TestSamplesPerClass > 0 {
		c.Data.Samples, c.Data.TestSamples = 0, 0
	}
	if c.Data.NoiseRates = "0.1, .25"; c.Data.NoiseKind != data.NoiseUniform {
		c.Data.NoiseGenerator = data.GeneratorCollapse
	}
	c.Run.Batch = max(c.Run.Batch, 2)
	if c.Net.normalized() {
		c.Optim.Decay = string(optim.DecayAll)
	}
	c.Optim.LambdaB, c.Optim.Schedule.MinLR = c.Optim.LambdaW, c.Optim.LR/2
	standard := Default()
	for i, f := range c.fields() {
		if !f.applies(&c) {
			f.copyFrom(standard.fields()[i])
		}
	}
	return c
}

func TestKeysThatMeanNothingAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"[net]\nkind = \"resnet18\"\ndepth = 3":                           "c.toml:3: net.depth: is 3, but has an effect only with net.kind = mlp; leave it out",
		"[net]\nstem = \"cifar\"":                                         `c.toml:2: net.stem: is "cifar", but has an effect only with net.kind = resnet18; leave it out`,
		"[net]\netf = \"random\"":                                         `c.toml:2: net.etf: is "random", but has an effect only with net.classifier = etf; leave it out`,
		"[optim]\nkind = \"adam\"\nmomentum = 0.5":                        "c.toml:3: optim.momentum: is 0.5, but has an effect only with optim.kind = sgd; leave it out",
		"[optim]\nlambda_h = 1.0":                                         "c.toml:2: optim.lambda_h: is 1.0, but has an effect only with optim.decay = peeled; leave it out",
		"[optim]\ndecay = \"peeled\"\nweight_decay = 5e-4":                "c.toml:3: optim.weight_decay: is 0.0005, but has an effect only with optim.decay = all; leave it out",
		"[optim]\ndecay = \"peeled-code\"\nlambda_b = 0.0":                "c.toml:3: optim.lambda_b: is 0 and lambda_w 0.01; the released code has a single number for both",
		"[net]\nclassifier = \"normalized\"\nbias = false":                "c.toml:3: net.bias: is false, but has an effect only with net.classifier = learned or etf; leave it out",
		"[net]\ntemperature = 3.0":                                        "c.toml:2: net.temperature: is 3.0, but has an effect only with net.classifier = normalized; leave it out",
		"[optim]\ndecay = \"peeled\"\n[net]\nclassifier = \"normalized\"": `c.toml:2: optim.decay: is "peeled", which decays the norms of classifier and features, and net.classifier = normalized fixes both; wanted all`,
		"[optim.schedule]\nkind = \"cosine\"\nmin_lr = 0.5":               "c.toml:3: optim.schedule.min_lr: is 0.5; wanted at most optim.lr, 0.1",
		"[optim.schedule]\nkind = \"multistep\"":                          `optim.schedule.milestones: is ""; wanted increasing epochs such as [60, 120]`,
		"[optim.schedule]\nkind = \"multistep\"\nmilestones=[2,1]":        `c.toml:3: optim.schedule.milestones: is "2,1"; wanted increasing epochs such as [60, 120]`,
		"[optim.schedule]\nkind = \"multistep\"\nmilestones=[2.5]":        `c.toml:3: optim.schedule.milestones: has "2.5"; wanted a list of whole numbers, separated by commas`,
		"[optim.schedule]\nmilestones=[[2]]":                              `c.toml:2: optim.schedule.milestones: is a list; wanted a list of whole numbers`,
	} {
		if _, err := Load("c.toml", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s:\ngot    %v\nwanted %s", text, err, want)
		}
	}
	// A printed configuration holds every key at its default, resolved or not.
	for _, c := range []Config{Default(), Default().Resolved()} {
		if _, err := Load("c.toml", []byte(PrintConfig(c)), "net.kind=resnet18", "optim.kind=adam", "optim.decay=peeled"); err != nil {
			t.Error(err)
		}
	}
}

func TestCosineTakesTheEpochsAfterTheWarmUp(t *testing.T) {
	c, err := Load("", nil, "optim.schedule.kind=cosine", "optim.schedule.warmup=4", "run.epochs=24", "optim.lr=1")
	if err != nil {
		t.Fatal(err)
	}
	s := mustPlan(t, c).Schedule
	// Four epochs of a linear rise, the rate itself, half of it in the middle of the twenty left.
	for epoch, want := range map[int]float64{0: 0.2, 3: 0.8, 4: 1, 14: 0.5} {
		if got := s.Rate(epoch); !(math.Abs(got-want) < 1e-12) {
			t.Errorf("epoch %d: rate %v, wanted %v", epoch, got, want)
		}
	}
}

func TestListsAreReadFromTOMLAndText(t *testing.T) {
	for _, text := range []string{"milestones = [60, 120]", `milestones = "60, 120"`, `milestones = ["60", "120"]`} {
		c, err := Load("", []byte("[optim.schedule]\nkind = \"multistep\"\n"+text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if s, is := mustPlan(t, c).Schedule.(optim.MultiStep); !is || !slices.Equal(s.Milestones, []int{60, 120}) {
			t.Errorf("%s: %+v", text, s)
		}
		want := `{"data":{"test_digest":"b","train_digest":"a"},"optim":{"schedule":{"kind":"multistep","milestones":"60,120"}}}`
		if got := string(Canonical(c, "a", "b")); got != want {
			t.Errorf("%s: identity %s", text, got)
		}
	}
}

// An override takes the TOML list that a file takes.
func TestListsAreReadFromOverrides(t *testing.T) {
	multistep, perClass := "optim.schedule.kind=multistep", "data.noise_kind=per_class"
	for _, value := range []string{"[60, 120]", "[60,120]", "60,120", `"60, 120"`, `["60", "120"]`} {
		c, err := Load("", nil, multistep, "optim.schedule.milestones="+value)
		if err != nil {
			t.Fatalf("milestones=%s: %v", value, err)
		}
		if s, is := mustPlan(t, c).Schedule.(optim.MultiStep); !is || !slices.Equal(s.Milestones, []int{60, 120}) {
			t.Errorf("milestones=%s: %+v", value, s)
		}
	}
	rates := strings.TrimSuffix(strings.Repeat("0.25, ", Default().Data.Classes), ", ")
	c, err := Load("", nil, perClass, "data.noise_rates=["+rates+"]")
	if want := strings.ReplaceAll(rates, " ", ""); err != nil || c.Data.NoiseRates != want {
		t.Errorf("noise_rates: %q, %v; wanted %q", c.Data.NoiseRates, err, want)
	}
	for _, value := range []string{"[1, 7]", "1,7"} {
		c, err := Load("", nil, "run.save_features="+value)
		rule, bad := parseEpochs(c.Run.SaveFeatures)
		if err != nil || bad != nil || !rule.holds(7, 9) || rule.holds(2, 9) {
			t.Errorf("save_features=%s: %q, %v, %v", value, c.Run.SaveFeatures, err, bad)
		}
	}
	for override, want := range map[string]string{
		"optim.schedule.milestones=[60, ":     "not a TOML list",
		"optim.schedule.milestones=[60.5]":    "wanted a list of whole numbers",
		"optim.schedule.milestones=[[60]]":    "wanted a list of whole numbers",
		"run.save_features=[0]":               "wanted none, last, every=N",
		"data.noise_rates=[0.5, \"x\"]":       "wanted a list of numbers",
		"optim.schedule.kind=[\"multistep\"]": "wanted",
	} {
		if _, err := Load("", nil, multistep, perClass, override); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, wanted %q", override, err, want)
		}
	}
}

func TestPrintedConfigLoadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t)
		back, err := Load("printed", []byte(PrintConfig(c)))
		if err != nil {
			t.Fatalf("%v\n%s", err, PrintConfig(c))
		}
		if back != c {
			t.Fatalf("(-want +got):\n%s", cmp.Diff(c, back))
		}
	})
}

func TestCanonicalLoadsBackAndIgnoresWhatIsOutside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t)
		text := Canonical(c, "aa", "bb")
		back, err := FromCanonical(text)
		if err != nil {
			t.Fatal(err)
		}
		if again := Canonical(back, "aa", "bb"); string(again) != string(text) {
			t.Fatalf("%s became %s", text, again)
		}
		moved := c
		moved.Data.Dir, moved.Run.Keep, moved.Run.CheckpointEvery = "elsewhere", "all", 5
		if string(Canonical(moved, "aa", "bb")) != string(text) {
			t.Fatal("the folder or what is kept entered the identity")
		}
	})
}

func TestCanonicalOfTheDefaultHoldsOnlyTheData(t *testing.T) {
	if got, want := string(Canonical(Default(), "aa", "bb")), `{"data":{"test_digest":"bb","train_digest":"aa"}}`; got != want {
		t.Errorf("got %s, wanted %s", got, want)
	}
	c := Default()
	c.Net.Preset, c.Optim.LR, c.Run.Seed = "code", 0.05, 2
	want := `{"data":{"noise_seed":2,"test_digest":"bb","train_digest":"aa"},"net":{"depth":8},"optim":{"lr":0.05},"run":{"seed":2}}`
	if got := string(Canonical(c, "aa", "bb")); got != want {
		t.Errorf("got %s, wanted %s", got, want)
	}
	c.Net.Preset, c.Net.Depth = "paper", 8
	if got := string(Canonical(c, "aa", "bb")); got != want {
		t.Errorf("depth 8 of preset paper is not preset code: %s", got)
	}
}

// TestEveryFieldIsReachable guards the table of fields: a field of Config missing there would be in no file and no identity.
func TestEveryFieldIsReachable(t *testing.T) {
	text, err := json.Marshal(Config{})
	if err != nil {
		t.Fatal(err)
	}
	inStruct := strings.Count(string(text), ":") - strings.Count(string(text), ":{")
	c := Config{}
	fields := c.fields()
	if len(fields) != inStruct {
		t.Errorf("the table has %d fields, Config %d", len(fields), inStruct)
	}
	seen := map[any]string{}
	for _, f := range fields {
		if other, twice := seen[f.ptr]; twice {
			t.Errorf("%s and %s share a variable", f.key, other)
		}
		seen[f.ptr] = f.key
	}
}

func TestCheckRefusesEveryLimit(t *testing.T) {
	base := Default()
	for i, f := range base.fields() {
		c := Default()
		field := c.fields()[i]
		switch p := field.ptr.(type) {
		case *string:
			if f.choices == nil && f.list != wholeNumbers && f.list != numbers {
				continue
			}
			*p = "nonsense"
		case *int:
			if !f.limits.set {
				t.Errorf("%s: a number without limits", f.key)
			}
			*p = -1
		case *float64:
			*p = math.NaN()
		default:
			continue
		}
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), f.key+": ") {
			t.Errorf("%s = %v: %v", f.key, field.value(), err)
		}
	}
	if err := base.Check(); err != nil {
		t.Errorf("the default: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(PrintConfig(Default())))
	f.Add([]byte("[data]\nname = \"minst\"\n[optim.schedule]\nkind = 3\n"))
	f.Add([]byte("optim = {lr = 0.1, schedule = {every = 3}}"))
	f.Add([]byte("[[data]]\nname = \"mnist\""))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Load("f.toml", text)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a message")
			}
			return
		}
		if back, err := Load("printed", []byte(PrintConfig(c))); err != nil || back != c {
			t.Fatalf("%v: %s", err, cmp.Diff(c, back))
		}
	})
}

func TestFlagsTakeNumbersAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]float64{".2": 0.2, "0.2": 0.2, "2e-1": 0.2, "1": 1, "0": 0} {
		c, err := Load("", nil, "data.noise="+text)
		if err != nil || c.Data.Noise != want {
			t.Errorf("%s: got %v, %v, want %v", text, c.Data.Noise, err, want)
		}
	}
	for _, text := range []string{"nan", "inf", "0.2x", "", ".2.3"} {
		if c, err := Load("", nil, "data.noise="+text); err == nil {
			t.Errorf("%q was taken for %v", text, c.Data.Noise)
		}
	}
}

// TestConfigurationsOfManyKeys: a text of a megabyte of unknown keys or sections is refused in one sentence, not in a hundred
// thousand.
func TestConfigurationsOfManyKeys(t *testing.T) {
	for name, text := range map[string]string{
		"keys":     manyLines("k%d = 1\n"),
		"sections": manyLines("[s%d]\n"),
		"tables":   strings.Repeat("[[a]]\n", 2*mostKeys),
	} {
		_, err := Load("run.toml", []byte(text))
		var wrong *ConfigError
		if !errors.As(err, &wrong) || len(wrong.Problems) != 1 || !strings.Contains(err.Error(), "keys and sections; a configuration has at most") {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

func manyLines(format string) string {
	var b strings.Builder
	for i := range 2 * mostKeys {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// Names of other programs lead to keys that exist, and are none themselves.
func TestNamesOfOtherProgramsLeadToKeys(t *testing.T) {
	known := func(key string) bool {
		return slices.ContainsFunc(resolvedDefaults(), func(f field) bool { return f.key == key })
	}
	for name, key := range otherNames {
		section, _, _ := strings.Cut(key, ".")
		if !known(key) || known(section+"."+name) {
			t.Errorf("%s leads to %s", name, key)
		}
	}
	if _, err := ForOneRun(Default(), "", "optim.learning_rate=3"); err == nil || !strings.Contains(err.Error(), "optim.learning_rate: unknown key; did you mean optim.lr?") {
		t.Error(err)
	}
}
