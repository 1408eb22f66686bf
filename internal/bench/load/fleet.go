package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"collapse.example/collapse/internal/bench"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/rundir"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
	"collapse.example/collapse/internal/study/wire"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/internal/version"
)

// fleetProcess is the process with a simulation's workers: it receives and returns JSON documents in turn.
type fleetProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

func startFleet(cmd *exec.Cmd) (*fleetProcess, error) {
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	cmd.Stderr = os.Stderr
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return nil, fmt.Errorf("study: the process of the workers: %w", err)
	}
	return &fleetProcess{cmd, in, json.NewDecoder(out)}, nil
}

func (f *fleetProcess) exchange(say, hear any) error {
	if err := json.NewEncoder(f.in).Encode(say); err != nil {
		return fmt.Errorf("study: the process of the workers: %w", err)
	}
	if err := f.out.Decode(&hear); err != nil {
		return fmt.Errorf("study: the process of the workers: %w", err)
	}
	return nil
}

func (f *fleetProcess) stop() error { return errors.Join(f.in.Close(), f.cmd.Wait()) }

func (f *fleetProcess) kill() { f.cmd.Process.Kill() }

// fleetPlan is the first message to the workers.
type fleetPlan struct {
	Simulation Simulation
	Remote     queue.Remote
}

// fleetCount is what the workers did since the start of the measurement.
type fleetCount struct {
	Started, Again, Epochs                int
	CPU                                   float64 // seconds
	Overhead, Handover, Sending, Updating Spread
}

// Fleet runs the workers of a Simulation: it reads orders from in, reports to out, and returns when in ends.
func Fleet(ctx context.Context, in io.Reader, out io.Writer) error {
	words, answer := json.NewDecoder(in), json.NewEncoder(out)
	var plan fleetPlan
	if err := words.Decode(&plan); err != nil {
		return fmt.Errorf("study: the simulation's plan: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := &fleet{fleetPlan: plan, files: wire.OneFile(rundir.Dir("").FinalFeatures(), make([]byte, plan.Simulation.Bytes)), busy: make(chan struct{})}
	began := time.Now()
	for i := range plan.Simulation.Workers {
		go func() {
			if err := f.worker(ctx, i); err != nil {
				cancel(err)
			}
		}()
	}
	select {
	case <-f.busy:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := answer.Encode(time.Since(began).Seconds()); err != nil {
		return err
	}
	for {
		var word string
		err := words.Decode(&word)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("study: the simulation's next word: %w", err)
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		}
		if err := answer.Encode(f.count()); err != nil {
			return err
		}
	}
}

// fleet is what a simulation's workers share.
type fleet struct {
	fleetPlan
	files []byte        // the last message of every run
	busy  chan struct{} // closed when all workers that can have a run have had one

	mu                                    sync.Mutex
	first                                 int // workers that have had a run
	started, again, epochs                int
	cpu                                   time.Duration
	overhead, handover, sending, updating []float64
}

// count returns what happened since the last call.
func (f *fleet) count() fleetCount {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := bench.CPU()
	c := fleetCount{Started: f.started, Again: f.again, Epochs: f.epochs, CPU: (now - f.cpu).Seconds(),
		Overhead: spread(f.overhead), Handover: spread(f.handover), Sending: spread(f.sending), Updating: spread(f.updating)}
	f.cpu, f.started, f.again, f.epochs = now, 0, 0, 0
	f.overhead, f.handover, f.sending, f.updating = nil, nil, nil, nil
	return c
}

func spread(seconds []float64) Spread {
	if len(seconds) == 0 {
		return Spread{}
	}
	slices.Sort(seconds)
	n := len(seconds)
	return Spread{N: n, P50: seconds[(n-1)/2], P99: seconds[(n*99+99)/100-1]}
}

// worker is one worker, with its connection and one slot.
func (f *fleet) worker(ctx context.Context, number int) error {
	b, err := queue.Connect(f.Remote, queue.Options{Version: version.ID()})
	if err != nil {
		return err
	}
	defer b.Close()
	w := &simulatedWorker{fleet: f, number: number}
	return b.Work(ctx, queue.WorkerOptions{Name: fmt.Sprint("simulated/", number)}, w.run)
}

// simulatedWorker does one run after another.
type simulatedWorker struct {
	*fleet
	number      int
	began, left time.Time     // when the last run began, and was done; zero: it did not or was not
	length      time.Duration // of the last run
}

// run is the life of a run as an uploader reports it: begin, rows after each epoch, a checkpoint every minute, files.
func (w *simulatedWorker) run(ctx context.Context, t *queue.Task) ([]byte, error) {
	s := w.Simulation
	length := s.scaled(s.Length)
	first := w.began.IsZero()
	if first { // the workers' first runs end one after another, as if they had begun long ago
		length -= length * time.Duration(w.number) / time.Duration(s.Workers)
	}
	w.begin(t, first)
	if first { // nobody finishes before everybody has begun: otherwise quick workers would leave nothing for late ones
		select {
		case <-w.busy:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	w.began, w.length, w.left = time.Now(), length, time.Time{}
	epochs := int((length + s.scaled(s.Epoch) - 1) / s.scaled(s.Epoch))
	if err := t.Send(ctx, wire.Begin{Program: train.ThisProgram()}.Encode()); err != nil {
		return nil, err
	}
	saved := time.Now()
	for epoch := 1; epoch <= epochs; epoch++ {
		// A run continues while its rows are sent, so the time of sending is subtracted.
		ended := w.began.Add(length - time.Duration(epochs-epoch)*s.scaled(s.Epoch))
		if err := sleep(ctx, time.Until(ended)); err != nil {
			return nil, err
		}
		t.Progress(wire.EncodeProgress(study.Progress{Epoch: epoch, Epochs: epochs, Text: "acc 97.1 %"}))
		if err := w.timed(&w.sending, func() error { return w.send(ctx, t, epoch) }); err != nil {
			return nil, err
		}
		if time.Since(saved) < s.scaled(time.Minute) {
			continue
		}
		saved = time.Now()
		state := wire.State{Epoch: int64(epoch), Blob: queue.Blob{Name: t.ID + "/g1/ckpt-1.tar", SHA256: t.ID}, Shared: true}
		if err := w.timed(&w.updating, func() error { return t.SetState(ctx, state.Encode()) }); err != nil {
			return nil, err
		}
	}
	w.left = time.Now()
	return w.files, nil
}

// begin counts the start of a run, and what the last one cost besides its length.
func (w *simulatedWorker) begin(t *queue.Task, first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started++
	if t.Attempt > 1 {
		w.again++
	}
	if !first && w.left.IsZero() {
		return // the last run was lost
	}
	if !first {
		w.overhead = append(w.overhead, (time.Since(w.began) - w.length).Seconds())
		w.handover = append(w.handover, time.Since(w.left).Seconds())
		return
	}
	if w.first++; w.first == min(w.Simulation.Workers, w.Simulation.Runs) {
		close(w.busy)
	}
}

// send sends the rows of an epoch.
func (w *simulatedWorker) send(ctx context.Context, t *queue.Task, epoch int) error {
	rows := make([]store.Value, w.Simulation.Rows)
	for i := range rows {
		key := store.Key{Series: "epoch", Split: "train", Layer: fmt.Sprint("layer", i/10), Measure: fmt.Sprint("measure", i%10)}
		rows[i] = store.Value{Key: key, Step: int64(epoch), Value: 1 / float64(i+epoch)}
	}
	for _, m := range wire.EncodeRows(store.EpochRows{Epoch: int64(epoch), Rows: rows}) {
		if err := t.Send(ctx, m); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.epochs++
	return nil
}

// timed records how long do takes.
func (f *fleet) timed(list *[]float64, do func() error) error {
	began := time.Now()
	err := do()
	f.mu.Lock()
	defer f.mu.Unlock()
	*list = append(*list, time.Since(began).Seconds())
	return err
}
