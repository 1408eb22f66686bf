// Package demo is what `collapse demo` shows: a network that collapses, measured epoch by epoch (collapse.go); and the study of
// `collapse demo memorization`, planned for the time at hand (demo.go), and computed side by side in this process (run.go).
package demo

import (
	"fmt"
	"time"

	"collapse.example/collapse/internal/bench"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/nn"
)

// Study is the memorization–dilation experiment (Nguyen et al. 2023, Figs 1 and 4) made small
// enough for a laptop: two classes of the built-in glyphs, a narrow network with d = 2, every
// loss and noise level a few times over.
type Study struct {
	Grid  Grid
	Slots int           // runs side by side
	Scale string        // what the grid is, in words
	Time  time.Duration // estimate
}

// demoBase is one run of the demo. Everything that differs from the paper's setting is here.
func demoBase() train.Config {
	c := train.Default()
	c.Data.Name, c.Data.Classes, c.Data.SamplesPerClass, c.Data.TestSamplesPerClass = "glyphs", 2, 200, 500
	c.Data.Pipeline = "plain"
	c.Net.Depth, c.Net.Width, c.Net.FeatureDim = 3, 128, 2
	c.Optim.Schedule.Every = 40
	c.Run.Epochs, c.Run.Batch, c.Run.MeasureEvery = 160, 64, 8
	c.Run.CheckpointEvery = 40 // a whole run takes a second: saving each epoch would double that
	return c
}

// demoNoise has four levels above zero where the paper claims a line (η ≤ 0.2) and two beyond.
var demoNoise = []float64{0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4}

// The grids that a demo can have, largest first; a faster machine takes a larger one. With d = 2
// about four seeds of ten end in the degenerate configuration of M-D Fig. 4(a), whatever the loss.
var demoGrids = []Grid{
	{Losses: []string{"ce", "ls", "lr", "mse"}, Noise: demoNoise, Seeds: 8},
	{Losses: []string{"ce", "ls", "mse"}, Noise: demoNoise, Seeds: 8},
	{Losses: []string{"ce", "ls"}, Noise: demoNoise, Seeds: 8},
	{Losses: []string{"ce", "ls"}, Noise: []float64{0, 0.05, 0.1, 0.2, 0.4}, Seeds: 8},
	{Losses: []string{"ce", "ls"}, Noise: []float64{0, 0.1, 0.2, 0.4}, Seeds: 8},
	{Losses: []string{"ce", "ls"}, Noise: []float64{0, 0.1, 0.2, 0.4}, Seeds: 6},
}

// Smoke is the smallest demo: it shows that everything works and proves nothing.
func Smoke(slots int) Study {
	base := demoBase()
	base.Run.Epochs, base.Run.MeasureEvery, base.Optim.Schedule.Every = 20, 2, 10
	return Study{Grid: Grid{Base: base, Losses: []string{"ce", "ls"}, Noise: []float64{0, 0.2}, Seeds: 3}, Slots: slots,
		Scale: "smoke: 12 runs of 20 epochs, to see that everything works; too short for any claim"}
}

// Plan times the demo's training step for a second, all slots busy, and takes the largest
// grid that fits into the budget.
func Plan(slots int, budget time.Duration) (Study, error) {
	base := demoBase()
	rate, err := bench.Rate(stepOf(base), slots, 1, time.Second)
	if err != nil {
		return Study{}, fmt.Errorf("timing the demo's training step: %w", err)
	}
	perRun := time.Duration(stepsOf(base) * measureCost / rate * float64(time.Second))
	for i, grid := range demoGrids {
		grid.Base = base
		runs := len(grid.Configs())
		rounds := (runs + slots - 1) / slots
		if d := time.Duration(rounds) * perRun; d <= budget || i == len(demoGrids)-1 {
			scale := fmt.Sprintf("default, grid %d of %d: %d losses × %d noise levels × %d seeds = %d runs of %d epochs",
				len(demoGrids)-i, len(demoGrids), len(grid.Losses), len(grid.Noise), grid.Seeds, runs, base.Run.Epochs)
			return Study{Grid: grid, Slots: slots, Scale: scale, Time: d}, nil
		}
	}
	panic("study: no demo grid")
}

// measureCost is the time of a run over that of its training steps alone: evaluation, measures,
// checkpoints. Measured with the demo's own runs.
const measureCost = 1.5

func stepOf(c train.Config) bench.TrainConfig {
	c = c.Resolved()
	return bench.TrainConfig{Batch: c.Run.Batch, Arch: nn.Arch{Kind: nn.KindMLP, Channels: 1, Height: c.Data.Size, Width: c.Data.Size,
		Classes: c.Data.Classes, FeatureDim: c.Net.FeatureDim, HiddenWidth: c.Net.Width, HiddenLayers: c.Net.Depth, BatchNorm: true}}
}

func stepsOf(c train.Config) float64 {
	n := c.Data.Classes * c.Data.SamplesPerClass
	return float64(c.Run.Epochs * ((n + c.Run.Batch - 1) / c.Run.Batch))
}
