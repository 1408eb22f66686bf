package study

import (
	"context"
	"sync"
	"testing"

	"collapse/internal/store"
)

// TestACancelledRunLeavesALiveStudy stops one run of a study under way, sees that the study goes on without it, and lets it go on.
func TestACancelledRunLeavesALiveStudy(t *testing.T) {
	t.Parallel()
	base := longer()
	base.Run.Epochs = 240 // longer than a cancellation takes
	configs := Grid{Base: base, Losses: []string{"ce"}, Noise: []float64{0, 0.2, 0.4}, Seeds: 1}.Configs()
	want := directly(t, configs)
	for _, place := range []string{"here", "elsewhere"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			lab := saved(t, configs)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := options(t, 1)
			if place == "elsewhere" {
				o = remoteOptions(t)
				url := urlOf(&o)
				go func() {
					select {
					case at := <-url:
						startWorker(t, at, WorkerOptions{})
					case <-ctx.Done():
					}
				}()
			}
			p := &person{t: t, lab: lab}
			o.Watch = p.see
			s, err := Execute(ctx, lab, []string{"s"}, o)
			if err != nil || s != (Summary{Runs: 3, Done: 3}) {
				t.Fatalf("%+v, %v", s, err)
			}
			if p.ends < 2 {
				t.Fatal("nobody cancelled a run")
			}
			sameValues(t, lab, want, configs)
		})
	}
}

// TestAStudyEndsBesideACancelledRun stops a run that nobody lets go on: the study ends without it and says so, and takes it up again
// when it is opened.
func TestAStudyEndsBesideACancelledRun(t *testing.T) {
	configs := smallGrid()[:3]
	lab := saved(t, configs)
	must(t, lab.Cancel(itemsOf(t, configs)[1].Hash))
	s, err := Execute(t.Context(), lab, []string{"s"}, options(t, 2))
	if err != nil || s != (Summary{Runs: 3, Done: 2, Cancelled: true}) {
		t.Fatalf("%+v, %v", s, err)
	}
	must(t, lab.OpenStudy("s"))
	s, err = Execute(t.Context(), lab, []string{"s"}, options(t, 2))
	if err != nil || s != (Summary{Runs: 3, Done: 3}) {
		t.Errorf("%+v, %v", s, err)
	}
}

// person cancels the first run that is worked on, and lets it go on when another has ended.
type person struct {
	t    *testing.T
	lab  *store.Lab
	mu   sync.Mutex
	hash string
	ends int
}

func (p *person) see(e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hash == "" && len(e.Working) > 0 && e.Working[0].Progress.Epoch > 0 {
		p.hash = e.Working[0].Hash
		if err := p.lab.Cancel(p.hash); err != nil {
			p.t.Error(err)
		}
	}
	if e.Ended == nil {
		return
	}
	if p.ends++; p.ends > 1 {
		return
	}
	run, err := p.lab.Run(p.hash)
	if err != nil || !run.Cancelled() || e.Ended.Hash == p.hash {
		p.t.Errorf("%.12s ended while the cancelled run %.12s is %s %q at epoch %d, %v", e.Ended.Hash, p.hash, run.Status, run.Error, run.LastEpoch, err)
	}
	if err := p.lab.Release(p.hash); err != nil {
		p.t.Error(err)
	}
}
