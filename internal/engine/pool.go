package engine

import (
	"context"
	"slices"
	"sync"
)

// Pool keeps processes between runs, because starting one takes seconds, and spreads runs over devices. Several goroutines may use it.
type Pool struct {
	Launch    func(ctx context.Context) (*Process, error)
	Devices   []string // to spread runs over; none: the first GPU, if any, else the processor
	PerDevice int      // runs at a time on each of Devices; 0: any number

	mu        sync.Mutex
	idle      []*Process
	ensembles []*ensemble
	used      map[string]int // number of runs on a device
	free      chan struct{}  // has room for each run allowed at a time; nil: any number
	forming   chan struct{}  // has room for one that looks for an ensemble or begins one
}

// Get returns a seat in a process: in an ensemble of runs like this one, if it wants one, else in a process of its own, a new one if none is
// idle. It waits until a device is free. Return the seat with Put.
func (p *Pool) Get(ctx context.Context, want Want) (*Seat, error) {
	name, err := p.reserve(ctx)
	if err != nil {
		return nil, err
	}
	seat, err := p.seat(ctx, name, want)
	if err != nil {
		p.release(name)
	}
	return seat, err
}

// seat finds a seat on a device.
func (p *Pool) seat(ctx context.Context, name string, want Want) (*Seat, error) {
	if want.Members != nil {
		select {
		case p.forming <- struct{}{}: // so that runs that start together find one ensemble
			defer func() { <-p.forming }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if s := p.join(name, want); s != nil {
		return s, nil
	}
	process, err := p.process(ctx)
	if err != nil {
		return nil, err
	}
	device, err := process.Hello.Device(name)
	if err != nil {
		p.keep(process)
		return nil, err
	}
	s := &Seat{process: process, device: device, place: name}
	if members := want.members(process.Hello, device); members > 1 {
		e := &ensemble{process: process, device: device, place: name, key: want.Key, seats: make([]*Seat, members)}
		e.sit(s)
		p.mu.Lock()
		p.ensembles = append(p.ensembles, e)
		p.mu.Unlock()
	}
	return s, nil
}

// join returns a seat in an ensemble that there is, or nil.
func (p *Pool) join(name string, want Want) *Seat {
	if want.Members == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.ensembles {
		if e.place != name || e.key != want.Key || len(e.seats) != want.members(e.process.Hello, e.device) || !e.process.Usable() {
			continue
		}
		if s := (&Seat{process: e.process, device: e.device, place: name}); e.sit(s) {
			return s
		}
	}
	return nil
}

// Device returns the device that a run would be computed on.
func (p *Pool) Device(ctx context.Context) (Device, Hello, error) {
	seat, err := p.Get(ctx, Want{})
	if err != nil {
		return Device{}, Hello{}, err
	}
	defer p.Put(seat)
	return seat.device, seat.Hello(), nil
}

// reserve takes the device with the fewest runs.
func (p *Pool) reserve(ctx context.Context) (string, error) {
	p.mu.Lock()
	if p.used == nil {
		p.used, p.forming = map[string]int{}, make(chan struct{}, 1)
		if p.PerDevice > 0 {
			p.free = make(chan struct{}, p.PerDevice*max(1, len(p.Devices)))
		}
	}
	p.mu.Unlock()
	if p.free != nil {
		select {
		case p.free <- struct{}{}:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	best := ""
	for i, name := range p.Devices {
		if i == 0 || p.used[name] < p.used[best] {
			best = name
		}
	}
	p.used[best]++
	return best, nil
}

func (p *Pool) release(device string) {
	p.mu.Lock()
	p.used[device]--
	p.mu.Unlock()
	if p.free != nil {
		<-p.free
	}
}

// process returns an idle process that still answers, or a new one.
func (p *Pool) process(ctx context.Context) (*Process, error) {
	for {
		kept := p.take()
		if kept == nil {
			return p.Launch(ctx)
		}
		if kept.Usable() {
			return kept, nil
		}
		kept.Close()
	}
}

func (p *Pool) take() *Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	last := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	return last
}

// Put takes back a seat from Get. Its process is kept for the next run once its last run has left, unless it has failed: then it is ended.
func (p *Pool) Put(s *Seat) {
	defer p.release(s.place)
	if s.with == nil {
		if s.opened && s.process.Usable() {
			s.process.Do(context.Background(), "close", nil, nil, nil) // a process that cannot close is no longer usable
		}
		p.keep(s.process)
		return
	}
	if s.opened && s.process.Usable() {
		s.with.do(context.Background(), s.slot, "close", nil, nil, nil)
	}
	if s.with.stand(s) {
		p.mu.Lock()
		p.ensembles = slices.DeleteFunc(p.ensembles, func(e *ensemble) bool { return e == s.with })
		p.mu.Unlock()
		p.keep(s.process)
	}
}

// keep keeps a process for the next run, if it can take one.
func (p *Pool) keep(process *Process) {
	if !process.Usable() {
		process.Close()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, process)
}

// Close ends the idle processes.
func (p *Pool) Close() {
	for kept := p.take(); kept != nil; kept = p.take() {
		kept.Close()
	}
}
