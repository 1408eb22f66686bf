package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ensemble is a process that computes several runs in one batch. Each has a seat and gives its own orders. An order that all members can be
// part of waits until every member has given one: then it is sent once, for all that are alike. An order of one member alone is sent at once.
//
// A member that stops waiting, because its context has ended, leaves the others alone: the order goes on without anyone who listens.
type ensemble struct {
	process *Process
	device  Device
	place   string // as Seat's
	key     string

	mu      sync.Mutex
	seats   []*Seat // nil: free
	waiting []*request
	busy    bool // an order is being carried out
	over    bool // nobody may join any more
	joined  time.Time
	wake    *time.Timer // when it has been waited long enough for more members
}

// gathering is how long the first epochs wait for more members after one has joined: those that start at the same time train together from
// the first epoch on. It affects no bits.
const gathering = 2 * time.Second

// request is an order that a member waits for.
type request struct {
	slot   int
	name   string
	fields any
	shared string      // what orders that are sent together have in common; "": it is for one member
	steps  chan Step   // has room for the newest; nil: nobody asks
	done   chan result // has room for the result
	gone   bool        // nobody waits any more
}

type result struct {
	answer Answer
	err    error
}

// Joint is an order that members of an ensemble can give together.
type Joint interface {
	// alike is equal for orders that can be sent together.
	alike() string
	// joined is the order for several members, whose parts are given.
	joined(parts []json.RawMessage) any
}

// sit gives a run a free seat, if there is one and members have not all left.
func (e *ensemble) sit(s *Seat) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := slices.Index(e.seats, nil)
	if at < 0 || e.over {
		return false
	}
	e.seats[at], e.joined = s, time.Now()
	s.with, s.slot = e, at
	return true
}

// stand frees a seat, and reports whether it was the last one taken: then the ensemble is over.
func (e *ensemble) stand(s *Seat) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seats[s.slot] = nil
	e.over = e.taken() == 0
	e.next()
	return e.over
}

// do gives an order and waits for its answer.
func (e *ensemble) do(ctx context.Context, slot int, name string, fields any, step func(Step) error, check func() error) (Answer, error) {
	r := &request{slot: slot, name: name, fields: fields, done: make(chan result, 1)}
	if step != nil {
		r.steps = make(chan Step, 1)
	}
	if joint, ok := fields.(Joint); ok {
		r.shared = name + " " + joint.alike()
	}
	e.mu.Lock()
	e.waiting = append(e.waiting, r)
	e.next()
	e.mu.Unlock()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case s := <-r.steps:
			if err := step(s); err != nil {
				return Answer{}, e.leave(r, err)
			}
		case got := <-r.done:
			select {
			case s := <-r.steps: // the last, if nobody has heard of it yet
				if err := step(s); err != nil && got.err == nil {
					got.err = err
				}
			default:
			}
			return got.answer, got.err
		case <-ctx.Done():
			return Answer{}, e.leave(r, context.Cause(ctx))
		case <-tick.C:
			if check != nil {
				if err := check(); err != nil {
					return Answer{}, e.leave(r, err)
				}
			}
		}
	}
}

// leave stops waiting for an order.
func (e *ensemble) leave(r *request, why error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.gone = true
	e.waiting = slices.DeleteFunc(e.waiting, func(w *request) bool { return w == r })
	e.next()
	return why
}

// next begins the next order, if it is time for one. The caller holds mu.
func (e *ensemble) next() {
	if e.busy || len(e.waiting) == 0 {
		return
	}
	batch := e.batch()
	if batch == nil {
		return
	}
	e.waiting = slices.DeleteFunc(e.waiting, func(r *request) bool { return slices.Contains(batch, r) })
	e.busy = true
	go e.carryOut(batch)
}

// batch chooses the requests that are sent next: one of a single member, or once all members wait, those that are alike. Epochs come last,
// since members that wait for something else will join them.
func (e *ensemble) batch() (batch []*request) {
	for _, r := range e.waiting {
		if r.shared == "" {
			return []*request{r}
		}
	}
	if len(e.waiting) < e.taken() {
		return nil
	}
	first := e.waiting[0]
	for _, r := range e.waiting {
		if r.name != "epoch" {
			first = r
			break
		}
	}
	if first.name == "epoch" && e.gathers() {
		return nil
	}
	for _, r := range e.waiting {
		if r.shared == first.shared {
			batch = append(batch, r)
		}
	}
	return batch
}

// gathers reports whether more members may come soon, and sees to it that next is called when that is over.
func (e *ensemble) gathers() bool {
	left := gathering - time.Since(e.joined)
	if left <= 0 || e.taken() == len(e.seats) {
		return false
	}
	if e.wake == nil {
		e.wake = time.AfterFunc(left, func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.wake = nil
			e.next()
		})
	}
	return true
}

// taken counts the members.
func (e *ensemble) taken() (n int) {
	for _, s := range e.seats {
		if s != nil {
			n++
		}
	}
	return n
}

// errNobody ends an order that no member waits for any more.
var errNobody = errors.New("nobody waits for it")

// carryOut sends the order of a batch and gives each member its answer.
func (e *ensemble) carryOut(batch []*request) {
	results, err := e.send(batch)
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, r := range batch {
		got := result{err: err}
		if err == nil {
			got = result{answer: results[i]}
		}
		r.done <- got
	}
	e.busy = false
	e.next()
}

func (e *ensemble) send(batch []*request) ([]Answer, error) {
	first, parts := batch[0], make([]json.RawMessage, len(batch))
	for i, r := range batch {
		text, err := withField("member", r.slot, r.fields)
		if err != nil {
			return nil, err
		}
		parts[i] = text
	}
	if first.shared == "" {
		answer, err := e.process.Do(context.Background(), first.name, parts[0], nil, nil)
		return []Answer{answer}, err
	}
	order := first.fields.(Joint).joined(parts)
	var step func(Step) error
	if first.name == "epoch" {
		step = func(s Step) error { return stepped(batch, s) }
	}
	answer, err := e.process.Do(context.Background(), first.name, order, step, func() error { return e.stillWanted(batch) })
	if err != nil {
		return nil, err
	}
	answers, err := inOrder(batch, answer.Members, func(a Answer) int { return a.Member })
	if err != nil {
		e.process.Kill()
		return nil, fmt.Errorf("engine: %s: %s: %w", e.process.Hello.Title(), first.name, err)
	}
	return answers, nil
}

// stillWanted returns an error once nobody waits for the batch and there are no other members, whom the end of the process would hit. A member
// that has left keeps its seat until the order has ended, since its close waits for that.
func (e *ensemble) stillWanted(batch []*request) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.taken() > len(batch) || slices.ContainsFunc(batch, func(r *request) bool { return !r.gone }) {
		return nil
	}
	return errNobody
}

// stepped tells each member about its step, instead of one that it has not heard of yet.
func stepped(batch []*request, s Step) error {
	steps, err := inOrder(batch, s.Members, func(m MemberStep) int { return m.Member })
	if err != nil {
		return err
	}
	for i, r := range batch {
		if r.steps == nil {
			continue
		}
		select {
		case <-r.steps:
		default:
		}
		r.steps <- Step{Step: s.Step, Loss: steps[i].Loss, Correct: steps[i].Correct} // there is room: nobody else sends
	}
	return nil
}

// inOrder gives what an engine says of each member in the order of the batch.
func inOrder[M any](batch []*request, said []M, slot func(M) int) ([]M, error) {
	list := make([]M, len(batch))
	for i, r := range batch {
		at := slices.IndexFunc(said, func(m M) bool { return slot(m) == r.slot })
		if at < 0 || len(said) != len(batch) {
			return nil, fmt.Errorf("it speaks of %d members instead of %d, or of others", len(said), len(batch))
		}
		list[i] = said[at]
	}
	return list, nil
}

func (e Epoch) alike() string { return fmt.Sprint(e.Views) }

func (e Epoch) joined(parts []json.RawMessage) any {
	return struct {
		Members []json.RawMessage `json:"members"`
	}{parts}
}

func (s Settle) alike() string { return fmt.Sprint(s) }

func (s Settle) joined(parts []json.RawMessage) any {
	s.Members = parts
	return s
}

func (v Evaluate) alike() string { return fmt.Sprint(v) }

func (v Evaluate) joined(parts []json.RawMessage) any {
	v.Members = parts
	return v
}
