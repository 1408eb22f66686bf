package engine

import "context"

// Want says what a run needs of a process.
type Want struct {
	Members func(Device) int // how many runs share a batch on a device; nil or up to 1: the run is alone
	Key     string           // runs with the same key may share a batch
}

// members is how many runs share a batch on a device of an engine that says hello.
func (w Want) members(h Hello, d Device) int {
	if w.Members == nil || h.Protocol != Protocol {
		return 1
	}
	return max(1, w.Members(d))
}

// Seat is a run's place in a process: alone, or as a member of an ensemble. Only one goroutine may use a seat at a time.
type Seat struct {
	process *Process
	device  Device
	place   string    // in Pool.Devices; "": any
	with    *ensemble // nil: alone
	slot    int
	opened  bool
}

// Hello is the process's first message.
func (s *Seat) Hello() Hello { return s.process.Hello }

// Device is where the run is computed.
func (s *Seat) Device() Device { return s.device }

// Members is how many slots the ensemble has; 1: the run is alone.
func (s *Seat) Members() int {
	if s.with == nil {
		return 1
	}
	return len(s.with.seats)
}

// Sharing is how many members compute at present; 1: the run is alone.
func (s *Seat) Sharing() int {
	if s.with == nil {
		return 1
	}
	s.with.mu.Lock()
	defer s.with.mu.Unlock()
	return max(1, s.with.taken())
}

// Usable reports whether the process can take another order.
func (s *Seat) Usable() bool { return s.process.Usable() }

// Kill ends the process at once, with all its runs.
func (s *Seat) Kill() { s.process.Kill() }

// Do is Process.Do for the run in this seat. In an ensemble an epoch, an evaluation or settling waits until every member has given such an
// order; those that are alike are then carried out together.
func (s *Seat) Do(ctx context.Context, name string, fields any, step func(Step) error, check func() error) (Answer, error) {
	s.opened = s.opened || name == "open"
	if s.with == nil {
		return s.process.Do(ctx, name, fields, step, check)
	}
	return s.with.do(ctx, s.slot, name, fields, step, check)
}
