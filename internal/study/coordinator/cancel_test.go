package coordinator

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
	"collapse.example/collapse/internal/study/worker"
	"collapse.example/collapse/internal/version"
	"collapse.example/collapse/parallel"
)

// TestACancelledRunLeavesALiveStudy stops one run of a study under way, checks that the study continues without it, and resumes it.
func TestACancelledRunLeavesALiveStudy(t *testing.T) {
	t.Parallel()
	configs := demo.Grid{Base: longer(), Losses: []string{"ce"}, Noise: []float64{0, 0.2, 0.4}, Seeds: 1}.Configs()
	want := directly(t, configs)
	for _, place := range []string{"here", "elsewhere"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			lab := saved(t, configs)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			o := options(t, 1)
			p := &person{t: t, lab: lab, elsewhere: place == "elsewhere", seen: make(chan struct{})}
			if place == "elsewhere" {
				o = remoteOptions(t)
				url := urlOf(&o)
				go func() {
					select {
					case at := <-url:
						startWorker(t, at, worker.Options{Watch: p.hold})
					case <-ctx.Done():
					}
				}()
			}
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

// TestAStudyEndsBesideACancelledRun stops a run that nobody resumes: the study ends without it and says so, and takes it up again
// when it is opened.
func TestAStudyEndsBesideACancelledRun(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
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

// TestARunLetGoOnAtTheEnd resumes a stopped run as the last other run ends: the study does not end without it.
func TestARunLetGoOnAtTheEnd(t *testing.T) {
	t.Parallel()
	configs := smallGrid()[:3]
	lab := saved(t, configs)
	hash := itemsOf(t, configs)[0].Hash
	must(t, lab.Cancel(hash))
	o := options(t, 1)
	o.Watch = func(e Event) {
		if e.Ended != nil && e.Ended.Hash != hash && e.Done == 2 {
			must(t, lab.Release(hash))
		}
	}
	s, err := Execute(t.Context(), lab, []string{"s"}, o)
	if err != nil || s != (Summary{Runs: 3, Done: 3}) {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestNobodyBeginsACancelledRun gives a run that a user has cancelled to a slot of this process, and hears of it from a worker elsewhere.
func TestNobodyBeginsACancelledRun(t *testing.T) {
	t.Parallel()
	item := itemsOf(t, smallGrid()[:1])[0]
	lab := saved(t, smallGrid()[:1])
	must(t, lab.Cancel(item.Hash))
	e := &coordinator{lab: lab, o: Options{Logf: t.Logf}, remote: map[string]*remoteRun{}}
	job := queue.Job{ID: item.Hash, Kind: string(store.Train), Payload: []byte(item.Payload)}
	team := parallel.NewTeam(1)
	defer team.Close()
	if err := e.compute(t.Context(), &queue.Task{Job: job}, team); !errors.Is(err, errCancelled) {
		t.Errorf("computed here: %v", err)
	}
	server, err := queue.StartServer(queue.ServerOptions{Dir: t.TempDir(), Logf: t.Logf})
	must(t, err)
	defer server.Close()
	opt := quickQueue()
	opt.Version, opt.Logf = version.ID(), t.Logf
	broker, err := server.Connect(opt)
	must(t, err)
	defer broker.Close()
	e.c, err = broker.Coordinate(t.Context(), "this lab")
	must(t, err)
	must(t, e.c.Submit(t.Context(), job))
	must(t, e.begin(t.Context(), queue.Message{Job: job.ID, Type: queue.Data, Generation: 7, Worker: "elsewhere", Data: wire.Begin{}.Encode()}))
	if jobs, err := e.c.Jobs(t.Context()); err != nil || len(jobs) != 0 {
		t.Errorf("still in the queue: %v, %v", jobs, err)
	}
	if run, err := lab.Run(job.ID); err != nil || !run.Cancelled() || run.Generation != 0 {
		t.Errorf("leaseed %d times, %s, %v", run.Generation, run.Status, err)
	}
}

// person cancels the first run that is being computed, and resumes it when another has ended.
type person struct {
	t         *testing.T
	lab       *store.Lab
	mu        sync.Mutex
	hash      string
	ends      int
	elsewhere bool
	seen      chan struct{} // closed when everybody has had the time to see that the run was cancelled
}

// hold keeps a worker's first run from getting further until it has been cancelled, which ends it. A run of this process is held by see.
func (p *person) hold(_ string, at study.Progress) {
	if at.Epoch < 20 {
		return
	}
	select {
	case <-p.seen:
	case <-p.t.Context().Done():
	}
}

func (p *person) see(e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hash == "" && len(e.Working) > 0 && e.Working[0].Progress.Epoch > 0 {
		p.hash = e.Working[0].Hash
		if err := p.lab.Cancel(p.hash); err != nil {
			p.t.Error(err)
		}
		if p.elsewhere { // a worker under the race detector may hear of it late
			time.AfterFunc(20*lookEvery, func() { close(p.seen) })
		} else {
			time.Sleep(4 * lookEvery)
			close(p.seen)
		}
	}
	if e.Ended == nil {
		if p.hash == "" {
			time.Sleep(2 * progressEvery) // so that the run's next progress is told, too: it may end sooner than that
		}
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
