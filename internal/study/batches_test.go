package study_test

import (
	"testing"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/train"
)

// TestHowManyRunsShareABatch: runs of the largest shape are divided evenly over devices and batches. Beside runs that share nothing there are no
// further slots.
func TestHowManyRunsShareABatch(t *testing.T) {
	shared := studytest.Tiny()
	shared.Run.Engine = "torch"
	wide, image, large, own := shared, shared, shared, studytest.Tiny()
	large.Net.Width, large.Net.Depth = 2048, 9
	wide.Net.Width += 8
	image.Net.Kind = "resnet18-adapt"
	cpu, gpu := study.Devices{One: engine.Device{Name: "cpu"}}, study.Devices{One: engine.Device{Name: "cuda:0"}}
	two, few := study.Devices{One: gpu.One, Number: 2}, study.Devices{One: cpu.One, Number: 1, Most: 4}
	for _, c := range []struct {
		runs, wide, asked int
		on                study.Devices
		members, slots    int
	}{{1, 0, 0, cpu, 1, 0}, {3, 0, 0, cpu, 3, 3}, {16, 0, 0, cpu, 16, 16}, {17, 0, 0, cpu, 9, 9}, {20, 0, 0, cpu, 10, 10}, {33, 0, 0, cpu, 11, 11}, {33, 0, 0, gpu, 33, 33}, {100, 0, 0, gpu, 50, 50},
		{3, 5, 0, cpu, 5, 5}, {20, 0, 4, cpu, 4, 4}, {2, 0, 4, cpu, 4, 4}, {20, 0, 1, cpu, 1, 0}, {40, 0, 0, two, 20, 40}, {41, 0, 0, two, 21, 42}, {20, 0, 0, few, 4, 4}, {6, 0, 0, few, 3, 3}} {
		var b study.Batches
		add := func(cfg train.Config, n int) {
			for i := range n {
				cfg.Run.Seed, cfg.Loss.Kind, cfg.Optim.LR = uint64(i), []string{"ce", "mse"}[i%2], .01*float64(i+1)
				b.Add(store.Train, train.Changes(cfg))
			}
		}
		if !b.None() {
			t.Fatal("there are runs before any")
		}
		add(shared, c.runs)
		add(wide, c.wide)
		if members, slots := b.Plan(c.on, c.asked); members != c.members || slots != c.slots || b.None() {
			t.Errorf("%+v: %d, %d", c, members, slots)
		}
		if c.members == 1 {
			continue
		}
		for name, other := range map[string]func(){"own": func() { add(own, 1) }, "image": func() { add(image, 1) }, "large": func() { add(large, 2) },
			"script": func() { b.Add(store.Script, train.Changes(shared)) }, "none": func() { b.Add(store.Train, "no configuration") }} {
			before := b
			other()
			if members, slots := b.Plan(c.on, c.asked); c.on.One.Name == "cpu" && (members != c.members || slots != 0) {
				t.Errorf("%+v beside %s: %d members, %d slots", c, name, members, slots)
			}
			b = before
		}
	}
}
