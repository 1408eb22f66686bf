package train

import (
	"testing"
	"time"

	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/parallel"
)

// The time left is that of steps, measurements and checkpoints, as long as the last ones took.
func TestTimeLeft(t *testing.T) {
	now := time.Now()
	w := watch{steps: 20, training: 10 * time.Second, measured: time.Second, saved: 3 * time.Second}
	w.left = func(epoch, step int) (steps, measurements, checkpoints int) { return 8 - step, 4, 2 }
	if got := w.remaining(now, 0, 2); got != (3+4+6)*time.Second {
		t.Errorf("%v", got)
	}
}

func TestDue(t *testing.T) {
	for _, epochs := range []int{1, 6, 7, 10} {
		for _, every := range []int{1, 3, 10, 11} {
			for epoch := range epochs + 1 {
				want := 0
				for e := epoch + 1; e <= epochs; e++ {
					if e%every == 0 || e == epochs {
						want++
					}
				}
				if got := due(epochs, epoch, every); got != want {
					t.Errorf("%d epochs, every %d, after %d: %d, counted %d", epochs, every, epoch, got, want)
				}
			}
		}
	}
}

// An epoch that writes a checkpoint says how long that took; one that writes none leaves the last time.
func TestACheckpointIsTimed(t *testing.T) {
	c := tinyConfig()
	c.Run.Epochs, c.Run.CheckpointEvery = 4, 2
	lab := newLab(t)
	team := parallel.NewTeam(1)
	defer team.Close()
	session := tinySession[float32](t, c, team)
	lease, _, err := lab.Lease(store.Spec{Kind: store.Train, Config: session.in.canonical(c)})
	fuzzMust(t, err)
	j := newJob(session, lab, lease, Options{Team: team})
	fuzzMust(t, j.files.Begin(PrintConfig(j.cfg)))
	var times []time.Duration
	for e := range 3 {
		fuzzMust(t, j.oneEpoch(t.Context(), e))
		times = append(times, j.watch.saved)
	}
	if times[0] != 0 || times[1] <= 0 || times[2] != times[1] {
		t.Errorf("after epochs 1 to 3, with a checkpoint after the second: %v", times)
	}
}
