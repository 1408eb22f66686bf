package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/parity"
	"collapse.example/collapse/parallel"
)

type engineCmd struct {
	Check engineCheckCmd `cmd:"" help:"Whether PyTorch computes the same here as this program, gives the same bits after a resume and whatever it is computed with, and how fast it is."`
}

type engineCheckCmd struct {
	Whole  bool `help:"Every combination of network, loss, optimiser and decay, instead of cases in which every two choices meet: an hour or more."`
	Images int  `help:"Images of a timed epoch; default: 240 on a processor, 12000 on a GPU." placeholder:"N"`
	engineFlags
}

// engineChecked is the JSON document of `collapse engine check`.
type engineChecked struct {
	Engine string           `json:"engine"`
	Device engine.Device    `json:"device"`
	Hello  engine.Hello     `json:"hello"`
	Parity []parity.Outcome `json:"parity"`
	Resume []parity.Outcome `json:"resume"`

	// Runs computed in one batch: against our kernels, and against the same runs with other members.
	Together []parity.Outcome `json:"together"`
	Company  []parity.Outcome `json:"company"`

	Rates []parity.Rate `json:"rates"`
	OK    bool          `json:"ok"`
}

func (c *engineCheckCmd) Run(a *app) error {
	if len(c.Device) > 1 || c.Images < 0 {
		return usagef("wanted one --device, and --images of at least 1")
	}
	pool := c.engines(a, 0)
	device, hello, err := pool.Device(a.ctx)
	if err != nil {
		return err
	}
	found := engineChecked{Engine: hello.Title(), Device: device, Hello: hello, OK: true}
	a.notef("%s on %s\n", found.Engine, device.Title)
	dir, err := os.MkdirTemp("", "collapse-engine-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	team := parallel.NewTeam(a.flags.Threads)
	defer team.Close()
	k := &parity.Checker{Engines: pool, Team: team, Dir: dir}
	if err := c.check(a, k, &found); err != nil {
		return err
	}
	if err := a.emit(found, func() { found.print(a) }); err != nil {
		return err
	}
	if !found.OK {
		return fmt.Errorf("%s on %s does not compute what this program computes: see the lines above that say so", found.Engine, device.Title)
	}
	return nil
}

// check tests parity and bits, measures rates, and shows its progress.
func (c *engineCheckCmd) check(a *app, k *parity.Checker, found *engineChecked) error {
	cases := parity.Cases(c.Whole)
	for i, one := range cases {
		o, err := k.Compare(a.ctx, one)
		if err != nil {
			return err
		}
		a.notef("%d of %d: %s: %s\n", i+1, len(cases), o.Case, said(o))
		found.Parity, found.OK = append(found.Parity, o), found.OK && o.OK()
	}
	for _, one := range parity.Resumed() {
		o, err := k.Resume(a.ctx, one)
		if err != nil {
			return err
		}
		a.notef("%s: %s\n", o.Case, said(o))
		found.Resume, found.OK = append(found.Resume, o), found.OK && o.OK()
	}
	for _, group := range parity.Ensembles() {
		near, same, err := k.Ensemble(a.ctx, group)
		if err != nil {
			return err
		}
		for _, o := range slices.Concat(near, same) {
			a.notef("in one batch: %s: %s\n", o.Case, said(o))
			found.OK = found.OK && o.OK()
		}
		found.Together, found.Company = append(found.Together, near...), append(found.Company, same...)
	}
	images, batch := c.Images, 256
	if images == 0 {
		images = 12000
		if found.Device.Name == "cpu" {
			images = 240
		}
	}
	var err error
	found.Rates, err = k.Rates(a.ctx, max(1, images/10), min(batch, max(2, images/2)))
	return err
}

// said is an outcome in a few words.
func said(o parity.Outcome) string {
	switch {
	case o.Error != "":
		return "FAILED: " + o.Error
	case !o.OK():
		return fmt.Sprintf("FAILED: off by %.1e at %s; wanted %.0e", o.Worst, o.Where, o.Tolerance)
	case o.Tolerance == 0:
		return "the same"
	case o.Nudge != 0:
		return fmt.Sprintf("%.1e, with our learning rate %+d units in the last place away", o.Worst, o.Nudge)
	}
	return fmt.Sprintf("%.1e", o.Worst)
}

func (e *engineChecked) print(a *app) {
	a.printf("engine   %s on %s\n", e.Engine, e.Device.Title)
	count := func(what string, list []parity.Outcome) {
		failed, worst := 0, 0.0
		for _, o := range list {
			if !o.OK() {
				failed++
				a.printf("         %s: %s\n", o.Case, said(o))
			}
			worst = max(worst, o.Worst)
		}
		a.printf("%-8s %d of %d hold; the largest relative difference of a row is %.1e\n", what, len(list)-failed, len(list), worst)
	}
	count("parity", e.Parity)
	count("resume", e.Resume)
	count("ensemble", e.Together)
	count("others", e.Company)
	a.printf("\n%-16s %-6s %-9s %6s %10s %8s\n", "network", "engine", "precision", "batch", "images/s", "GFLOP/s")
	for _, r := range e.Rates {
		rate := fmt.Sprintf("%10.0f %8.0f", r.ImagesPerS, r.GFLOPS)
		if r.Refused != "" {
			rate = " – " + strings.SplitN(r.Refused, "\n", 2)[0]
		}
		a.printf("%-16s %-6s %-9s %6d %s\n", r.Net, r.Engine, r.Precision, r.Batch, rate)
	}
}
