package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// echoing makes this binary an engine that answers every order at once, and writes it to the file that the variable names.
const echoing = "COLLAPSE_TEST_ECHO"

func TestMain(m *testing.M) {
	if to := os.Getenv(echoing); to != "" {
		echo(to)
		return
	}
	os.Exit(m.Run())
}

// echo is the engine. The rate of an epoch says what it does: 0 answers, 1 takes until a file is there, 2 leaves out a member, 3 names one twice, 4 one that is not there.
func echo(to string) {
	fmt.Printf(`{"hello": {"protocol": %q, "engine": "echo", "devices": [{"name": "cpu"}]}}`+"\n", os.Getenv("COLLAPSE_TEST_PROTOCOL"))
	log, _ := os.Create(fmt.Sprint(to, "/", os.Getpid()))
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		log.Write(append(in.Bytes(), '\n'))
		var o struct {
			Do      string
			Member  int
			Members []struct {
				Member int
				LR     float64
			}
		}
		json.Unmarshal(in.Bytes(), &o)
		if o.Members == nil || o.Do == "open" {
			fmt.Printf(`{"done": %q, "machine": "member %d"}`+"\n", o.Do, o.Member)
			continue
		}
		for o.Members[0].LR == 1 && !there(to+"/go") {
			time.Sleep(time.Millisecond)
		}
		var answers, steps []string
		for _, m := range o.Members {
			answers = append(answers, fmt.Sprintf(`{"member": %d, "steps": %d}`, m.Member, 10+m.Member))
			steps = append(steps, fmt.Sprintf(`{"member": %d, "loss": %d}`, m.Member, m.Member))
		}
		slices.Reverse(answers)
		switch o.Members[0].LR {
		case 2:
			answers = answers[1:]
		case 3:
			answers = append(answers[1:], answers[1])
		case 4:
			answers = append(answers, `{"member": 9}`)
		}
		if o.Do == "epoch" {
			fmt.Printf(`{"step": 1, "members": [%s]}`+"\n", strings.Join(steps, ","))
		}
		fmt.Printf(`{"done": %q, "members": [%s]}`+"\n", o.Do, strings.Join(answers, ","))
	}
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// echoes is a pool of such engines, and the folder of what they were told.
func echoes(t *testing.T, protocol string) (*Pool, string) {
	t.Helper()
	dir := t.TempDir()
	p := &Pool{Launch: func(ctx context.Context) (*Process, error) {
		return Start(ctx, Command{Args: []string{os.Args[0]}, Env: append(os.Environ(), echoing+"="+dir, "COLLAPSE_TEST_PROTOCOL="+protocol)}, Limits{Leave: time.Second})
	}}
	t.Cleanup(p.Close)
	return p, dir
}

func want(members int, key string) Want {
	return Want{Members: func(Device) int { return members }, Key: key}
}

// seats takes seats of a key, and opens them.
func seats(t *testing.T, p *Pool, n, members int, key string) (list []*Seat) {
	t.Helper()
	for range n {
		s, err := p.Get(t.Context(), want(members, key))
		if err != nil {
			t.Fatal(err)
		}
		if a, err := s.Do(t.Context(), "open", Open{}, nil, nil); err != nil || a.Machine != fmt.Sprint("member ", s.slot) {
			t.Fatalf("%+v, %v", a, err)
		}
		list = append(list, s)
	}
	return list
}

// told is what the engines were told, without opening and closing.
func told(t *testing.T, dir string) (orders []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, _ := os.ReadFile(dir + "/" + f.Name())
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, `"open"`) && !strings.Contains(line, `"close"`) {
				orders = append(orders, strings.TrimSpace(line))
			}
		}
	}
	return orders
}

// TestMembersAreToldTogether: an epoch is one order once every member has given it; evaluations come first, and only those that are alike are
// joined. Each member hears its own answer and steps.
func TestMembersAreToldTogether(t *testing.T) {
	p, dir := echoes(t, Protocol)
	members := seats(t, p, 3, 3, "a")
	var wait sync.WaitGroup
	for i, s := range members {
		wait.Go(func() {
			if i == 1 {
				if _, err := s.Do(t.Context(), "evaluate", Evaluate{Splits: []string{"test"}, Samples: 7}, nil, nil); err != nil {
					t.Error(err)
				}
			}
			var steps []float64
			a, err := s.Do(t.Context(), "epoch", Epoch{Epoch: i, LR: 0}, func(s Step) error { steps = append(steps, float64(s.Loss)); return nil }, nil)
			if err != nil || a.Steps != 10+i || !slices.Equal(steps, []float64{float64(i)}) {
				t.Errorf("member %d: %+v, %v, steps %v", i, a, err, steps)
			}
		})
	}
	wait.Wait()
	orders := told(t, dir)
	if len(orders) != 2 || !strings.Contains(orders[0], `"do":"evaluate"`) || !strings.Contains(orders[0], `"members":[{"member":1,`) || strings.Count(orders[0], `"member":`) != 1 {
		t.Fatalf("%q", orders)
	}
	for i := range 3 {
		if !strings.Contains(orders[1], fmt.Sprintf(`{"member":%d,"epoch":%d,"lr":0,"views":false,"keep":false}`, i, i)) {
			t.Errorf("%q", orders[1])
		}
	}
}

// TestAMemberThatStopsWaitingLeavesOthersAlone: the order goes on; once nobody waits, it is ended.
func TestAMemberThatStopsWaitingLeavesOthersAlone(t *testing.T) {
	p, dir := echoes(t, Protocol)
	members := seats(t, p, 2, 2, "a")
	ctx, cancel := context.WithCancelCause(t.Context())
	left, done := make(chan error), make(chan error)
	go func() {
		_, err := members[0].Do(ctx, "epoch", Epoch{LR: 1}, nil, nil)
		left <- err
	}()
	go func() {
		a, err := members[1].Do(t.Context(), "epoch", Epoch{LR: 1}, nil, nil)
		if err == nil && a.Steps != 11 {
			err = fmt.Errorf("%+v", a)
		}
		done <- err
	}()
	for len(told(t, dir)) == 0 {
		time.Sleep(time.Millisecond)
	}
	mine := errors.New("my own end")
	cancel(mine)
	if err := <-left; err != mine {
		t.Errorf("it left with %v", err)
	}
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the other: %v", err)
	}
	os.Remove(dir + "/go")
	p.Put(members[0])
	_, err := members[1].Do(t.Context(), "epoch", Epoch{LR: 1}, nil, func() error {
		if len(told(t, dir)) > 1 {
			return mine
		}
		return nil
	})
	if err != mine {
		t.Errorf("%v", err)
	}
	p.Put(members[1])
	if members[1].Usable() {
		t.Error("a process goes on with an order that nobody waits for")
	}
}

// TestAMemberThatIsAloneInAnOrderLeavesOthersAlone: when it stops waiting, the order goes on, since the end of the process would hit them.
func TestAMemberThatIsAloneInAnOrderLeavesOthersAlone(t *testing.T) {
	p, dir := echoes(t, Protocol)
	members := seats(t, p, 2, 2, "a")
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() { // an order of its own kind, which lasts
		if _, err := members[0].Do(ctx, "epoch", Epoch{LR: 1, Views: true}, nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		p.Put(members[0])
	})
	for e, waits := members[0].with, 0; waits == 0; time.Sleep(time.Millisecond) { // its order is the first
		e.mu.Lock()
		waits = len(e.waiting)
		e.mu.Unlock()
	}
	wait.Go(func() {
		if _, err := members[1].Do(t.Context(), "epoch", Epoch{}, nil, nil); err != nil {
			t.Errorf("the other: %v", err)
		}
	})
	for len(told(t, dir)) == 0 {
		time.Sleep(time.Millisecond)
	}
	if first := told(t, dir)[0]; !strings.Contains(first, `"views":true`) {
		t.Errorf("the first order is %s", first)
	}
	cancel()
	time.Sleep(300 * time.Millisecond) // several looks whether anybody waits
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wait.Wait()
}

// TestAnswersToOtherMembersAreErrors of all: the process is ended.
func TestAnswersToOtherMembersAreErrors(t *testing.T) {
	for _, fault := range []float64{2, 3, 4} {
		p, _ := echoes(t, Protocol)
		members := seats(t, p, 2, 2, "a")
		var wait sync.WaitGroup
		for _, s := range members {
			wait.Go(func() {
				if _, err := s.Do(t.Context(), "epoch", Epoch{LR: fault}, nil, nil); err == nil || !strings.Contains(err.Error(), "members") {
					t.Errorf("fault %g: %v", fault, err)
				}
			})
		}
		wait.Wait()
		if members[0].Usable() {
			t.Errorf("fault %g: the process goes on", fault)
		}
	}
}

// TestSeats: runs of one key share a process until its seats are taken; a seat that is left is taken again; the last one leaves a process for
// others. Engines of the first contract and runs that ask for no company are alone.
func TestSeats(t *testing.T) {
	p, _ := echoes(t, Protocol)
	first := seats(t, p, 2, 2, "a")
	other, third, lone := seats(t, p, 1, 2, "b")[0], seats(t, p, 1, 2, "a")[0], seats(t, p, 1, 1, "a")[0]
	wider := seats(t, p, 1, 3, "a")[0]
	if first[0].process != first[1].process || first[0].slot == first[1].slot || first[0].Members() != 2 || lone.Members() != 1 || wider.Members() != 3 {
		t.Errorf("%+v", first)
	}
	processes := map[*Process]bool{first[0].process: true, other.process: true, third.process: true, lone.process: true, wider.process: true}
	if len(processes) != 5 {
		t.Errorf("%d processes", len(processes))
	}
	p.Put(first[0])
	if again := seats(t, p, 1, 2, "a")[0]; again.process != first[0].process || again.slot != first[0].slot {
		t.Errorf("a seat that was left is not taken: %+v", again)
	} else {
		p.Put(again)
	}
	p.Put(first[1])
	if next := seats(t, p, 1, 2, "c")[0]; next.process != first[0].process || next.slot != 0 {
		t.Error("a process that everybody has left is not used again")
	}
	older, _ := echoes(t, "collapse-engine 1")
	if s := seats(t, older, 1, 4, "a")[0]; s.Members() != 1 {
		t.Error("an engine of the first contract was given an ensemble")
	}
}

// TestEpochsWaitForMoreMembers that may come: not longer than their time, and not if there is no seat left.
func TestEpochsWaitForMoreMembers(t *testing.T) {
	p, dir := echoes(t, Protocol)
	one := seats(t, p, 1, 2, "a")[0]
	start := time.Now()
	if _, err := one.Do(t.Context(), "epoch", Epoch{}, nil, nil); err != nil || time.Since(start) < gathering/2 {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	start = time.Now()
	if _, err := one.Do(t.Context(), "epoch", Epoch{Epoch: 1}, nil, nil); err != nil || time.Since(start) > gathering/2 {
		t.Errorf("the second: %v after %v", err, time.Since(start))
	}
	full := seats(t, p, 1, 2, "a")[0]
	var wait sync.WaitGroup
	start = time.Now()
	for _, s := range []*Seat{one, full} {
		wait.Go(func() {
			if _, err := s.Do(t.Context(), "epoch", Epoch{Epoch: 2}, nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if orders := told(t, dir); len(orders) != 3 || strings.Count(orders[2], `"member":`) != 2 || time.Since(start) > gathering/2 {
		t.Errorf("%q after %v", orders, time.Since(start))
	}
}
