package cli

import (
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/data"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/parallel"
)

type trainCmd struct {
	Config       string `arg:"" optional:"" help:"TOML file with the run's configuration; flags override it." placeholder:"CONFIG.toml"`
	Setting      string `complete:"papers" help:"Start from a paper's setting; the file and the flags override it." placeholder:"NAME" group:"Papers' settings:"`
	ListSettings bool   `help:"List the settings and stop." group:"Papers' settings:"`

	Set []string `complete:"settings" help:"Override a setting: --set optim.lr=0.05; --print-config lists all of them. May be repeated." placeholder:"SECTION.KEY=VALUE" sep:"none"`

	Data       string `key:"data.name" help:"Data set: glyphs (built in), mnist, cifar-10 and more, see collapse data list." placeholder:"NAME" group:"Common settings:"`
	DataDir    string `key:"data.dir" help:"Folder that holds the data sets; default: $COLLAPSE_DATA." placeholder:"DIR" group:"Common settings:"`
	Classes    string `key:"data.classes" help:"Number of classes K: the first K are kept." placeholder:"K" group:"Common settings:"`
	Noise      string `key:"data.noise" help:"Probability that a training label is redrawn." placeholder:"ETA" group:"Common settings:"`
	Loss       string `key:"loss.kind" help:"Loss: ${losses}." placeholder:"KIND" group:"Common settings:"`
	Net        string `key:"net.kind" help:"Network: ${networks}." placeholder:"KIND" group:"Common settings:"`
	Optim      string `key:"optim.kind" help:"Optimiser: ${optimisers}." placeholder:"KIND" group:"Common settings:"`
	Preset     string `key:"net.preset" help:"Preset: for an mlp's depth and width; paper (9 hidden layers of 2048 units) or code (8)." placeholder:"NAME" group:"Common settings:"`
	Depth      string `key:"net.depth" help:"Hidden layers of an mlp; 0: the preset's." placeholder:"N" group:"Common settings:"`
	Width      string `key:"net.width" help:"Units of a hidden layer, for mlp; 0: the preset's." placeholder:"N" group:"Common settings:"`
	FeatureDim string `key:"net.feature_dim" help:"Width d of the last hidden layer; 0: K for an mlp, else the network's own; default: 64 for an mlp without a file or setting, else 0." placeholder:"D" group:"Common settings:"`
	Epochs     string `key:"run.epochs" help:"Passes over the training set." placeholder:"N" group:"Common settings:"`
	Batch      string `key:"run.batch" help:"Samples per step." placeholder:"B" group:"Common settings:"`
	LR         string `key:"optim.lr" name:"lr" help:"Learning rate of the first epoch." placeholder:"LR" group:"Common settings:"`
	Seed       string `key:"run.seed" help:"Seed: for weights, order and label noise." placeholder:"S" group:"Common settings:"`

	PrintConfig       bool   `help:"Print the complete configuration as TOML and stop." group:"How it is run:"`
	Resume            string `complete:"runs" help:"Resume a run of the lab (its hash or the start of it)." placeholder:"RUN" group:"How it is run:"`
	Again             bool   `help:"Compute again what was computed before, even if the lab holds it." group:"How it is run:"`
	IgnoreMemory      bool   `help:"Start even if the estimated memory exceeds what is free." group:"How it is run:"`
	AllowKernelChange bool   `help:"Resume under another kernel or architecture; recorded in the run." group:"How it is run:"`
	Trace             string `help:"Write the first steps completely to DIR, for another framework to repeat." placeholder:"DIR" group:"How it is run:"`
	TraceSteps        int    `help:"How many steps to trace." default:"10" placeholder:"S" group:"How it is run:"`
	engineFlags
	besideFlags
}

// overrides lists the given common flags as configuration keys, then --set.
func (c *trainCmd) overrides() []string {
	var out []string
	flags := reflect.ValueOf(c).Elem()
	for i := range flags.NumField() {
		if key := flags.Type().Field(i).Tag.Get(keyTag); key != "" && flags.Field(i).String() != "" {
			out = append(out, key+"="+flags.Field(i).String())
		}
	}
	return append(out, c.Set...)
}

func (c *trainCmd) effects() []effect {
	only := []effect{
		{"but list-settings", !c.ListSettings, "is about a run, and --list-settings lists settings"},
		{"again ignore-memory allow-kernel-change trace trace-steps resume serve serve-listen " + engineFlagNames, !c.PrintConfig, "is about a run, and --print-config only prints a configuration"},
		{"trace-steps", c.Trace != "", "goes with --trace"},
	}
	return append(only, c.besideFlags.effects()...)
}

func (c *trainCmd) config() (train.Config, error) {
	base := train.Default()
	if c.Setting != "" {
		var err error
		if base, err = train.Setting(c.Setting); err != nil {
			return train.Config{}, usageError{err}
		}
	}
	cfg, err := train.ForOneRun(base, c.Config, c.overrides()...)
	if err == nil && c.Config == "" && c.Setting == "" && cfg.Net.Kind == nn.KindMLP && cfg.Net.Classifier == nn.ClassifierLearned && !c.names("net.feature_dim") {
		cfg.Net.FeatureDim = featureDim
	}
	return cfg, unnamed(err)
}

// featureDim is the width of an mlp's features where neither a file, nor a setting, nor a flag gives it. With the papers' d = K = 2 behind
// a ReLU three starts in eight end degenerate.
const featureDim = 64

// names reports whether a flag gives the key.
func (c *trainCmd) names(key string) bool {
	return slices.ContainsFunc(c.overrides(), func(given string) bool { return strings.HasPrefix(given, key+"=") })
}

func (c *trainCmd) Run(a *app) error {
	if c.ListSettings {
		return listSettings(a)
	}
	if c.Resume != "" && (c.Config != "" || c.Setting != "" || len(c.overrides()) > 0 || c.Again) {
		return usagef("--resume takes its configuration from the run: leave out the file, the keys and --again")
	}
	if c.PrintConfig {
		return c.print(a)
	}
	if err := c.traceable(a); err != nil {
		return err
	}
	lab, err := a.openLab()
	if err != nil {
		return err
	}
	defer c.beside(a)()
	result, err := c.train(a, lab)
	if err != nil {
		return err
	}
	concluded := conclude(a, lab, result)
	return a.emit(concluded, func() { printResult(a, concluded) })
}

// traceable checks that a trace can be written, before images are read and the lab is touched. DIR may be a named
// pipe.
func (c *trainCmd) traceable(a *app) error {
	if c.Trace == "" {
		return nil
	}
	if info, err := os.Stat(c.Trace); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		return nil
	}
	if there, err := os.ReadDir(c.Trace); err == nil && len(there) > 0 {
		return fmt.Errorf("--trace %s: the folder is not empty, and a trace needs one of its own: choose another", c.Trace)
	}
	_, err := a.labOutputs().Folder("--trace", c.Trace, "a trace")
	return misuse(err)
}

func listSettings(a *app) error {
	list := train.Settings()
	return a.emit(list, func() {
		for _, s := range list {
			a.printf("%-22s %s\n", s.Name, s.About)
		}
	})
}

func (c *trainCmd) print(a *app) error {
	cfg, err := c.config()
	if err != nil {
		return usageError{err}
	}
	text := train.PrintConfig(cfg)
	var settings map[string]any
	if err := toml.Unmarshal([]byte(text), &settings); err != nil {
		return fmt.Errorf("the configuration as TOML: %w", err)
	}
	return a.emit(settings, func() { a.print(text) })
}

func (c *trainCmd) train(a *app, lab *store.Lab) (train.Result, error) {
	team := parallel.NewTeam(a.flags.Threads)
	defer team.Close()
	progress := &trainProgress{w: a.stderr, nc1: math.NaN()}
	defer progress.close()
	opts := train.Options{Team: team, Sink: progress, Again: c.Again, IgnoreMemory: c.IgnoreMemory, AllowKernelChange: c.AllowKernelChange,
		Engines: c.engines(a, 0)}
	if c.Trace != "" {
		opts.Trace = train.Trace{Dir: c.Trace, Steps: train.FirstSteps(c.TraceSteps)}
	}
	if c.Resume != "" {
		return train.Resume(a.ctx, lab, c.Resume, opts)
	}
	cfg, err := c.config()
	if err != nil {
		return train.Result{}, err
	}
	if err := c.idle(cfg); err != nil {
		return train.Result{}, err
	}
	result, err := train.Run(a.ctx, cfg, lab, opts)
	if missing := (*data.MissingError)(nil); errors.As(err, &missing) && c.Config == "" && c.Setting == "" && !c.names("data.name") {
		err = fmt.Errorf("%w\nto train on the images that are built in instead: --data glyphs", err)
	}
	return result, err
}
