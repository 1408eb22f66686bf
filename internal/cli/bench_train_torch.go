package cli

import (
	"fmt"
	"os"
	"text/tabwriter"

	"collapse.example/collapse/internal/parity"
	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/parallel"
)

// benchTorch is the JSON of a step that PyTorch makes.
type benchTorch struct {
	Net     string           `json:"net"`
	Batch   int              `json:"batch"`
	Threads int              `json:"threads"`
	Engine  string           `json:"engine"`
	Device  string           `json:"device"`
	Timed   []benchTorchTime `json:"timed"`
}

// benchTorchTime is a number of runs in one batch.
type benchTorchTime struct {
	Members    int     `json:"members"`
	StepMS     float64 `json:"step_ms"` // of one run, mean of an epoch
	ImagesPerS float64 `json:"images_per_s"`
	GFLOPS     float64 `json:"gflops"` // 6 for each multiply-add of a sample
}

// torch times the network as a run of built-in images: an epoch of --steps steps, after one that warms up.
func (c benchTrainCmd) torch(a *app) error {
	a.onlyComputes()
	if len(c.Device) > 1 {
		return usagef("wanted one --device")
	}
	cfg, err := c.config()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "collapse-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	pool := c.engines(a, 0)
	device, hello, err := pool.Device(a.ctx)
	if err != nil {
		return err
	}
	team := parallel.NewTeam(a.flags.Threads)
	defer team.Close()
	r := benchTorch{Net: cfg.Name, Batch: cfg.Batch, Threads: team.Threads(), Engine: hello.Title(), Device: device.Title}
	for _, members := range c.Members {
		k := &parity.Checker{Engines: pool, Team: team, Dir: dir, Members: members}
		t := benchTorchTime{Members: members}
		if t.ImagesPerS, t.GFLOPS, err = k.Speed(a.ctx, trained(cfg.Arch, cfg.Batch, cfg.Steps)); err != nil {
			return err
		}
		t.StepMS = 1e3 * float64(cfg.Batch) / t.ImagesPerS
		r.Timed = append(r.Timed, t)
	}
	return a.emit(r, func() {
		a.printf("%s, batch %d, %d threads, %s on %s; mean of %d steps\n\n", r.Net, r.Batch, r.Threads, r.Engine, r.Device, cfg.Steps)
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "in one batch\tms a step of each\timages/s\tGFLOP/s\t")
		for _, t := range r.Timed {
			safetext.Fprintf(w, "%d\t%.3g\t%.0f\t%.1f\t\n", t.Members, t.StepMS, t.ImagesPerS, t.GFLOPS)
		}
		w.Flush()
	})
}

// trained are the settings of a run of two epochs of built-in images that trains the network, so many steps each.
func trained(arch nn.Arch, batch, steps int) []string {
	perClass := (batch*steps + arch.Classes - 1) / arch.Classes
	settings := []string{"data.name=glyphs", "data.pipeline=md", "run.engine=torch", "run.epochs=2", "run.measure_every=2", "run.checkpoint_every=2", "data.test_samples_per_class=1",
		fmt.Sprint("data.classes=", arch.Classes), fmt.Sprint("data.samples_per_class=", perClass), fmt.Sprint("run.batch=", batch), "net.kind=" + arch.Kind}
	switch arch.Kind {
	case nn.KindMLP:
		settings = append(settings, "data.pipeline=plain", fmt.Sprint("net.depth=", arch.HiddenLayers), fmt.Sprint("net.width=", arch.HiddenWidth), fmt.Sprint("net.feature_dim=", arch.FeatureDim))
	case nn.KindResNet18:
		if arch.Stem != "" {
			settings = append(settings, "net.stem="+arch.Stem)
		}
	case nn.KindAdapt:
		settings = append(settings, fmt.Sprint("net.stem_width=", arch.StemWidth))
	}
	return settings
}
