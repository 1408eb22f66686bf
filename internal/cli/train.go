package cli

import (
	"errors"
	"fmt"
	"os"
	"sort"

	"collapse/internal/kernel"
	"collapse/internal/store"
	"collapse/train"
)

type trainCmd struct {
	Config       string `arg:"" optional:"" help:"TOML file with the run's configuration; flags below override it." placeholder:"CONFIG.toml"`
	Setting      string `help:"Start from a paper's setting; the file and the keys come on top." placeholder:"NAME" group:"Papers' settings:"`
	ListSettings bool   `help:"List the settings and stop." group:"Papers' settings:"`

	Set []string `help:"Override one key, e.g. --set optim.lr=0.05 (repeatable)." placeholder:"SECTION.KEY=VALUE" sep:"none"`

	Data       string `help:"Data set: glyphs (built in), mnist, cifar-10, …; collapse data list." placeholder:"NAME" group:"Common keys:"`
	DataDir    string `help:"Folder that holds the data sets (default: COLLAPSE_DATA)." placeholder:"DIR" group:"Common keys:"`
	Classes    string `help:"Keep the first K classes." placeholder:"K" group:"Common keys:"`
	Noise      string `help:"Probability that a training label is redrawn." placeholder:"ETA" group:"Common keys:"`
	Loss       string `help:"ce, ls, lr, mse or rescaled_mse." placeholder:"KIND" group:"Common keys:"`
	Net        string `help:"mlp, resnet18, resnet18-adapt, vgg13 or vgg13-bn." placeholder:"KIND" group:"Common keys:"`
	Optim      string `help:"sgd, adam or lbfgs." placeholder:"KIND" group:"Common keys:"`
	Preset     string `help:"paper (9 hidden layers) or code (8)." placeholder:"NAME" group:"Common keys:"`
	Depth      string `help:"Hidden layers." placeholder:"N" group:"Common keys:"`
	Width      string `help:"Units of a hidden layer." placeholder:"N" group:"Common keys:"`
	FeatureDim string `help:"Width d of the last hidden layer." placeholder:"D" group:"Common keys:"`
	Epochs     string `help:"Passes over the training set." placeholder:"N" group:"Common keys:"`
	Batch      string `help:"Samples of a step." placeholder:"B" group:"Common keys:"`
	LR         string `name:"lr" help:"Learning rate of the first epoch." placeholder:"LR" group:"Common keys:"`
	Seed       string `help:"Seed of weights, order and label noise." placeholder:"S" group:"Common keys:"`

	PrintConfig       bool   `help:"Print the complete configuration as TOML and stop." group:"How it is run:"`
	Resume            string `help:"Go on with a run of the lab (its hash or the start of it)." placeholder:"RUN" group:"How it is run:"`
	Again             bool   `help:"Compute a configuration anew that the lab holds already." group:"How it is run:"`
	IgnoreMemory      bool   `help:"Start though the estimated memory is above what is free." group:"How it is run:"`
	AllowKernelChange bool   `help:"Resume under another kernel or architecture; recorded in the run." group:"How it is run:"`
	Trace             string `help:"Write the first steps whole into DIR, for another framework to repeat." placeholder:"DIR" group:"How it is run:"`
	TraceSteps        int    `help:"How many steps to trace." default:"10" placeholder:"S" group:"How it is run:"`
	besideFlags
}

// overrides lists the common flags that were given, as configuration keys, then --set.
func (c *trainCmd) overrides() []string {
	var out []string
	for _, kv := range []struct{ key, value string }{
		{"data.name", c.Data}, {"data.dir", c.DataDir}, {"data.classes", c.Classes}, {"data.noise", c.Noise},
		{"loss.kind", c.Loss}, {"net.kind", c.Net}, {"optim.kind", c.Optim}, {"net.preset", c.Preset}, {"net.depth", c.Depth}, {"net.width", c.Width},
		{"net.feature_dim", c.FeatureDim}, {"run.epochs", c.Epochs}, {"run.batch", c.Batch},
		{"optim.lr", c.LR}, {"run.seed", c.Seed},
	} {
		if kv.value != "" {
			out = append(out, kv.key+"="+kv.value)
		}
	}
	return append(out, c.Set...)
}

func (c *trainCmd) config() (train.Config, error) {
	base := train.Default()
	if c.Setting != "" {
		var err error
		if base, err = train.Setting(c.Setting); err != nil {
			return train.Config{}, usageError{err}
		}
	}
	if c.Config != "" {
		return train.LoadFileOver(base, c.Config, c.overrides()...)
	}
	return train.LoadOver(base, "", nil, c.overrides()...)
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
	defer lab.Close()
	defer c.beside(a)()
	result, err := c.train(a, lab)
	if err != nil {
		return err
	}
	return a.emit(resultJSON(result), func() { printResult(a, result) })
}

// traceable checks that a trace can be written, before images are read and the lab is touched. A named pipe is one, too.
func (c *trainCmd) traceable(a *app) error {
	if c.Trace == "" {
		return nil
	}
	if info, err := os.Stat(c.Trace); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		return nil
	}
	return misuse(a.labOutputs().Folder("--trace", c.Trace))
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
	a.print(train.PrintConfig(cfg))
	return nil
}

func (c *trainCmd) train(a *app, lab *store.Lab) (train.Result, error) {
	team := kernel.NewTeam(a.flags.Threads)
	defer team.Close()
	progress := newTrainProgress(a.stderr)
	defer progress.close()
	opts := train.Options{Team: team, Sink: progress, Again: c.Again, IgnoreMemory: c.IgnoreMemory, AllowKernelChange: c.AllowKernelChange}
	if c.Trace != "" {
		opts.Trace = train.Trace{Dir: c.Trace, Steps: train.FirstSteps(c.TraceSteps)}
	}
	if c.Resume != "" {
		return train.Resume(a.ctx, lab, c.Resume, opts)
	}
	cfg, err := c.config()
	var wrong *train.ConfigError
	if errors.As(err, &wrong) {
		return train.Result{}, usageError{err}
	}
	if err != nil {
		return train.Result{}, err
	}
	return train.Run(a.ctx, cfg, lab, opts)
}

// trained is the JSON document of `collapse train`.
type trained struct {
	Run         string             `json:"run"`
	Dir         string             `json:"dir"`
	Epochs      int                `json:"epochs"`
	AlreadyDone bool               `json:"already_done"`
	Checkpoint  string             `json:"checkpoint"`
	Features    string             `json:"features"`
	Values      map[string]float64 `json:"values"`
}

func resultJSON(r train.Result) trained {
	return trained{r.Run, r.Dir, r.Epochs, r.AlreadyDone, r.Checkpoint, r.Features, r.Values}
}

func printResult(a *app, r train.Result) {
	if r.AlreadyDone {
		a.notef("The lab holds this configuration already (--again computes it anew).\n")
	}
	keys := make([]string, 0, len(r.Values))
	for k := range r.Values {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		a.printf("%-40s %s\n", k, fmt.Sprintf("%.6g", r.Values[k]))
	}
	a.printf("\nrun         %s\ncheckpoint  %s\nreport      collapse --lab %s report %.12s\n",
		r.Run, r.Checkpoint, a.flags.Lab, r.Run)
}
