package train

import (
	"os"
	"slices"
	"testing"
	"time"

	"collapse.example/collapse/internal/rundir"
)

// TestWhenCheckpointsAreDue: as the configuration counts them off; without a count by time, and those to keep. The last epoch has one in any case.
func TestWhenCheckpointsAreDue(t *testing.T) {
	for name, c := range map[string]struct {
		every  int
		keep   keepRule
		ago    time.Duration // since the last
		saving time.Duration // of the last
		want   []int         // of 6 epochs
	}{
		"every":             {every: 1, want: []int{1, 2, 3, 4, 5, 6}},
		"every 4":           {every: 4, want: []int{4, 6}},
		"every 4, long ago": {every: 4, ago: time.Hour, want: []int{4, 6}},
		"every 4, all kept": {every: 4, keep: keepRule{every: 1}, want: []int{4, 6}},
		"by time, at once":  {want: []int{6}},
		"by time":           {ago: checkpointTime, want: []int{1, 2, 3, 4, 5, 6}},
		"just before":       {ago: checkpointTime - time.Second, want: []int{6}},
		"saving is slow":    {ago: checkpointTime + time.Second, saving: time.Second, want: []int{6}},
		"as slow":           {ago: savingShare * time.Second, saving: time.Second, want: []int{1, 2, 3, 4, 5, 6}},
		"kept":              {keep: keepRule{every: 2}, want: []int{2, 4, 6}},
	} {
		j := &job[float32]{ckpt: &checkpoints{keep: c.keep}, checkpointed: time.Now().Add(-c.ago), watch: watch{saved: c.saving}}
		j.cfg.Run.Epochs, j.cfg.Run.CheckpointEvery = 6, c.every
		var got []int
		for epoch := 1; epoch <= 6; epoch++ {
			if j.checkpointDue(epoch) {
				got = append(got, epoch)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestShortRunsSaveOnce: a run of a moment has its last checkpoint alone, the rows of all epochs, and the bits of one that saves each epoch.
func TestShortRunsSaveOnce(t *testing.T) {
	lab := newLab(t)
	var weights [][]byte
	for _, every := range []int{1, 0} {
		c := tinyConfig()
		c.Run.Epochs, c.Run.CheckpointEvery, c.Run.Seed = 9, every, uint64(7)
		if every == 0 {
			lab = newLab(t)
		}
		r, err := Run(t.Context(), c, lab, Options{})
		if err != nil {
			t.Fatal(err)
		}
		saved, err := rundir.Dir(r.Dir).Checkpoints()
		if want := map[int][]int{1: {8, 9}, 0: {9}}[every]; err != nil || !slices.Equal(saved, want) {
			t.Errorf("every %d: checkpoints of epochs %v, want %v; %v", every, saved, want, err)
		}
		if run, err := lab.Run(r.Run); err != nil || run.LastEpoch != 9 {
			t.Errorf("every %d: rows up to %d, %v", every, run.LastEpoch, err)
		}
		b, err := os.ReadFile(r.Checkpoint + "/model.safetensors")
		if err != nil {
			t.Fatal(err)
		}
		weights = append(weights, b)
	}
	if !slices.Equal(weights[0], weights[1]) {
		t.Error("when checkpoints are saved changes the weights")
	}
}
