package engine

import (
	"context"
	"sync"
)

// Pool keeps processes between runs, because starting one takes seconds, and spreads runs over devices. Several goroutines may use it.
type Pool struct {
	Launch    func(ctx context.Context) (*Process, error)
	Devices   []string // to spread runs over; none: the first GPU, if any, else the processor
	PerDevice int      // runs at a time on each of Devices; 0: any number

	mu   sync.Mutex
	idle []*Process
	used map[string]int // number of runs on a device
	on   map[*Process]string
	free chan struct{} // has room for each run allowed at a time; nil: any number
}

// Get returns a process, a new one if none is idle, and the device to use. It waits until a device is free. Return the process with Put.
func (p *Pool) Get(ctx context.Context) (*Process, Device, error) {
	name, err := p.reserve(ctx)
	if err != nil {
		return nil, Device{}, err
	}
	process, err := p.process(ctx)
	if err != nil {
		p.release(name)
		return nil, Device{}, err
	}
	p.mu.Lock()
	p.on[process] = name
	p.mu.Unlock()
	device, err := process.Hello.Device(name)
	if err != nil {
		p.Put(process)
	}
	return process, device, err
}

// reserve takes the device with the fewest runs.
func (p *Pool) reserve(ctx context.Context) (string, error) {
	p.mu.Lock()
	if p.used == nil {
		p.used, p.on = map[string]int{}, map[*Process]string{}
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

// Put takes back a process from Get and keeps it for the next run. A process that has failed is ended.
func (p *Pool) Put(process *Process) {
	p.mu.Lock()
	device := p.on[process]
	delete(p.on, process)
	if process.Usable() {
		p.idle = append(p.idle, process)
		process = nil
	}
	p.mu.Unlock()
	p.release(device)
	if process != nil {
		process.Close()
	}
}

// Close ends the idle processes.
func (p *Pool) Close() {
	for kept := p.take(); kept != nil; kept = p.take() {
		kept.Close()
	}
}
