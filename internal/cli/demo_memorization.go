package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/results"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// demoBudget is the 90 seconds that this demo may take on two cores, less ten for the report and for
// a machine that slows down.
const demoBudget = 75 * time.Second

type demoMemorizationCmd struct {
	writesFolder

	Out   string `help:"Where to write: a folder for the page." default:"./out/memorization" type:"path" placeholder:"DIR"`
	Scale string `enum:"smoke,default" default:"default" help:"Scale: smoke takes seconds and only shows that it works; default takes up to 90 s on two cores (default: default)." placeholder:"NAME"`
	Open  bool   `help:"Show the page in the browser when it is ready."`
	besideFlags
}

func (c *demoMemorizationCmd) Run(a *app) error {
	start := time.Now()
	to, err := pageFolder(a.labOutputs(), c.Out)
	if err != nil {
		return err
	}
	plan, err := c.plan(a)
	if err != nil {
		return err
	}
	lab, err := a.openLab()
	if err != nil {
		return err
	}
	defer c.beside(a)()
	configs := plan.Grid.Configs()
	progress := newStudyProgress(a.stderr, configs)
	outcomes, err := demo.Run(a.ctx, lab, configs, plan.Slots, plan.Slots, progress)
	progress.close()
	if err != nil {
		return err
	}
	if err := demo.Failures(outcomes); err != nil {
		a.notef("some runs failed; the page shows them:\n%v\n", err)
	}
	earlier, err := shippedRuns()
	if err != nil {
		return err
	}
	result, err := c.report(a, lab, plan, outcomes, earlier, to)
	if err != nil {
		return err
	}
	out := memorizationResult{result, plan.Scale, memorizationEarlier{earlier.Runs, earlier.Scale, earlier.Claims}, isa.Name(), time.Since(start).Seconds()}
	return a.made(out, func() {
		printBeside(a, result, earlier)
		printWritten(a, result)
		a.printf("\n%.0f s in total\n", time.Since(start).Seconds())
	}, result.Index, c.Open)
}

// memorizationResult is the JSON document of `collapse demo memorization`.
type memorizationResult struct {
	page.Result
	Scale   string              `json:"scale"`
	Earlier memorizationEarlier `json:"earlier"`
	Kernel  string              `json:"kernel"`
	Seconds float64             `json:"seconds"`
}

// memorizationEarlier is what the runs say that ship with the program.
type memorizationEarlier struct {
	Runs   int           `json:"runs"`
	Scale  string        `json:"scale"`
	Claims []judge.Claim `json:"claims"`
}

func (c *demoMemorizationCmd) plan(a *app) (demo.Study, error) {
	slots := a.threads()
	plan := demo.Smoke(slots)
	if c.Scale == "default" {
		a.notef("timing this machine for a second …\n")
		var err error
		if plan, err = demo.Plan(slots, demoBudget); err != nil {
			return demo.Study{}, err
		}
	}
	estimate := ""
	if plan.Time > 0 {
		estimate = fmt.Sprintf(", about %s", left(plan.Time))
	}
	a.notef("kernel %s, %d runs side by side%s\n%s\n", isa.Name(), plan.Slots, estimate, plan.Scale)
	return plan, nil
}

func (c *demoMemorizationCmd) report(a *app, lab *store.Lab, plan demo.Study, outcomes []demo.Outcome, earlier *findings.Beside, to *outfile.Folder) (page.Result, error) {
	defer a.onlyComputes()()
	var hashes []string
	for _, o := range outcomes {
		if o.Result.Run != "" {
			hashes = append(hashes, o.Result.Run)
		}
	}
	runs, err := judge.Load(lab, hashes...)
	if err != nil {
		return page.Result{}, err
	}
	return writeStudy(to, findings.Study{
		ID:            "memorization",
		Title:         "Memorization and dilation",
		Runs:          runs,
		Substitutions: demoSubstitutions(plan.Grid),
		Commands:      []string{a.commandLine()},
		Notes:         []string{"Scale: " + plan.Scale + "."},
		Generated:     time.Now(),
		Beside:        earlier,
	})
}

// shippedRuns is the result that the program carries.
func shippedRuns() (*findings.Beside, error) {
	r, err := results.Shipped()
	if err != nil {
		return nil, err
	}
	return &findings.Beside{Runs: r.Runs, Scale: r.Scale, Command: r.Command, Program: r.Program, On: r.Date, Claims: r.Claims, Figure: r.Figures[0]}, nil
}

// printBeside prints the verdicts of both: the runs just computed, and those of the program.
func printBeside(a *app, now page.Result, earlier *findings.Beside) {
	a.printf("\n%s\n", now.Headline)
	for _, fact := range now.Facts {
		a.printf("  %s\n", fact)
	}
	a.printf("\n%s Those were not computed now: they are of %s, on other images and for longer, and ship with the program.\n\n", earlier.Says(), earlier.Command)
	verdicts := map[string]judge.Verdict{}
	for _, c := range now.Claims {
		verdicts[c.ID] = c.Verdict
	}
	a.printf("The verdicts of the earlier runs, and in brackets those of the runs just computed:\n")
	a.printBySource("", earlier.Claims, func(c judge.Claim) {
		a.printf("%-13s  %s [%s]\n", c.Verdict, c.Statement, cmp.Or(verdicts[c.ID], "not asked"))
	})
}

// demoSubstitutions lists where the demo departs from Nguyen et al. 2023, Sections 4.1 and A.1.1.
func demoSubstitutions(g demo.Grid) []recipe.Substitution {
	paper, here := train.Default().Resolved(), g.Base
	return []recipe.Substitution{
		{What: "data set", Paper: "MNIST, FashionMNIST, CIFAR-10, SVHN, first 2 classes", Here: fmt.Sprintf("built-in glyphs, %d classes, %d training and %d test samples per class",
			here.Data.Classes, here.Data.SamplesPerClass, here.Data.TestSamplesPerClass), Why: "needs no download, trains in seconds"},
		{What: "input", Paper: "not printed; 3 channels of 32 × 32 at the scale paper", Here: "1 channel of 28 × 28", Why: "speed"},
		{What: "network", Paper: fmt.Sprintf("%d hidden layers of %d", paper.Net.Depth, paper.Net.Width), Here: fmt.Sprintf("%d hidden layers of %d", here.Net.Depth, here.Net.Width), Why: "speed"},
		{What: "epochs and batch", Paper: fmt.Sprintf("%d epochs, batch %d", paper.Run.Epochs, paper.Run.Batch), Here: fmt.Sprintf("%d epochs, batch %d", here.Run.Epochs, here.Run.Batch), Why: "speed"},
		{What: "noise levels", Paper: "in [0.025, 0.4]", Here: strings.Trim(fmt.Sprint(g.Noise), "[]"), Why: "as many as fit in the time"},
		{What: "seeds", Paper: "10", Here: fmt.Sprint(g.Seeds), Why: "speed"},
		{What: "losses", Paper: "ce, ls, lr, mse", Here: strings.Join(g.Losses, ", "), Why: "as many as fit in the time"},
	}
}
