package study_test

import (
	"testing"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/train"
)

// TestHowManyRunsShareABatch: runs of a shape are divided evenly; the largest shape decides; others are not counted.
func TestHowManyRunsShareABatch(t *testing.T) {
	shared := studytest.Tiny()
	shared.Run.Engine = "torch"
	wide, image, own := shared, shared, studytest.Tiny()
	wide.Net.Width += 8
	image.Net.Kind = "resnet18-adapt"
	cpu, gpu := engine.Device{Name: "cpu"}, engine.Device{Name: "cuda:0"}
	for _, c := range []struct {
		runs, wide, asked int
		device            engine.Device
		want              int
	}{{1, 0, 0, cpu, 1}, {3, 0, 0, cpu, 3}, {16, 0, 0, cpu, 16}, {17, 0, 0, cpu, 9}, {20, 0, 0, cpu, 10}, {33, 0, 0, cpu, 11}, {33, 0, 0, gpu, 33}, {100, 0, 0, gpu, 50}, {3, 5, 0, cpu, 5}, {20, 0, 4, cpu, 4}, {2, 0, 4, cpu, 4}, {20, 0, 1, cpu, 1}} {
		var b study.Batches
		add := func(cfg train.Config, n int) {
			for i := range n {
				cfg.Run.Seed, cfg.Loss.Kind, cfg.Optim.LR = uint64(i), []string{"ce", "mse"}[i%2], .01*float64(i+1)
				b.Add(store.Train, train.Changes(cfg))
			}
		}
		add(own, 40)
		add(image, 40)
		b.Add(store.Script, train.Changes(shared))
		b.Add(store.Train, "no configuration")
		if !b.None() {
			t.Fatal("runs that share nothing are counted")
		}
		add(shared, c.runs)
		add(wide, c.wide)
		if got := b.Members(c.device, c.asked); got != c.want || b.None() {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
