package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"collapse.example/collapse/internal/engine"
	"collapse.example/collapse/internal/queue"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study/studytest"
	"collapse.example/collapse/internal/train"
)

// torchRun is the payload of a run of PyTorch with a width.
func torchRun(width int, seed uint64) string {
	c := studytest.Tiny()
	c.Run.Engine, c.Run.Seed, c.Net.Width = "torch", seed, width
	return train.Changes(c)
}

// TestRunsOfAShapeAreNextToEachOther in the queue, in the order of the first of each; all others stay where they are.
func TestRunsOfAShapeAreNextToEachOther(t *testing.T) {
	job := func(id, payload string) queue.Job {
		return queue.Job{ID: id, Kind: string(store.Train), Payload: []byte(payload)}
	}
	own := train.Changes(studytest.Tiny())
	jobs := []queue.Job{job("a8", torchRun(8, 1)), job("own", own), job("a9", torchRun(9, 1)), job("b8", torchRun(8, 2)), job("other", own), job("b9", torchRun(9, 2)), job("c8", torchRun(8, 3))}
	inShapes(jobs)
	var got []string
	for _, j := range jobs {
		got = append(got, j.ID)
	}
	if want := []string{"a8", "b8", "c8", "own", "a9", "b9", "other"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestWithoutADeviceRunsAreAlone: each of them then says what is wrong. A user's own number of workers is not raised.
func TestWithoutADeviceRunsAreAlone(t *testing.T) {
	launched := 0
	pool := &engine.Pool{Launch: func(context.Context) (*engine.Process, error) {
		launched++
		return nil, errors.New("no PyTorch here")
	}}
	for _, members := range []int{0, 1} {
		e := &coordinator{o: Options{Slots: 2, Threads: 2, Engines: pool, Members: members, Wider: true}, open: map[string]*openRun{}}
		for i := range 3 {
			e.open[fmt.Sprint(i)] = &openRun{StudyRun: store.StudyRun{Kind: store.Train, Payload: torchRun(8, uint64(i))}}
		}
		if err := e.together(t.Context()); err != nil || e.ensemble != (train.Ensemble{Threads: 2}) || e.o.Slots != 2 {
			t.Errorf("%v: %+v, %d slots", err, e.ensemble, e.o.Slots)
		}
	}
	if launched != 2 {
		t.Errorf("%d processes were tried", launched)
	}
}
