package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// Command is the command that starts an engine.
type Command struct {
	Args []string // of the process; the first is a path
	Env  []string // the complete environment
	Dir  string   // the folder where it starts

	Ended func() // called once the process has ended, or could not start; may be nil
}

// Limits are how long an engine may be silent. A zero value means the default.
type Limits struct {
	Hello time.Duration // from its start; importing PyTorch from a slow disk takes a while
	Order time.Duration // between two lines while an order is carried out, and to accept one
	Leave time.Duration // from the end of its input to its exit
}

func (l Limits) filled() Limits {
	fill := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	fill(&l.Hello, 3*time.Minute)
	fill(&l.Order, 30*time.Minute) // a step of L-BFGS on a CPU, or a large split, takes long without a line
	fill(&l.Leave, 10*time.Second)
	return l
}

// Process is a running engine. Only one goroutine may give it orders at a time; Usable, Kill and Close may be called at any time.
type Process struct {
	Hello  Hello
	limits Limits
	stdin  io.WriteCloser
	lines  chan any // of line, perhaps with a final error; closed with the output
	gone   chan struct{}
	stderr *tail
	cmd    *exec.Cmd
	exit   error       // why it ended; read only after gone
	broken atomic.Bool // an order failed, so no further ones are sent
}

// Start runs an engine and waits for its hello. An error of kind Refused says that this installation has no engine.
func Start(ctx context.Context, c Command, limits Limits) (*Process, error) {
	p := &Process{limits: limits.filled(), lines: make(chan any), gone: make(chan struct{}), stderr: &tail{}}
	if err := p.spawn(c); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	l, err := p.hear(ctx, p.limits.Hello, nil)
	if err == nil && l.hello == nil {
		err = l.err
		if l.err == nil {
			err = errors.New("its first line is not a hello")
		}
	}
	if err == nil {
		err = l.hello.check()
	}
	if err != nil {
		return nil, p.end(c.Args[0], err)
	}
	p.Hello = *l.hello
	return p, nil
}

// spawn starts the process and the goroutines that listen to it. Linux kills the process when the thread that started it ends, so
// that thread waits for it.
func (p *Process) spawn(c Command) (err error) {
	ended := c.Ended
	if ended == nil {
		ended = func() {}
	}
	defer func() {
		if err != nil {
			ended()
		}
	}()
	theirIn, in, err := os.Pipe()
	if err != nil {
		return err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return errors.Join(err, theirIn.Close(), in.Close())
	}
	p.cmd = &exec.Cmd{Path: c.Args[0], Args: c.Args, Env: c.Env, Dir: c.Dir, Stdin: theirIn, Stdout: theirOut, Stderr: p.stderr,
		WaitDelay: 5 * time.Second, SysProcAttr: apart()}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.exit = p.cmd.Wait()
			killGroup(p.cmd) // and anything it has started itself
			ended()
			close(p.gone)
		}
	}()
	err = <-started
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		return errors.Join(err, in.Close(), out.Close())
	}
	p.stdin = in
	go p.listen(out)
	return nil
}

// Do sends an order and waits for its answer. step receives training steps, and check is called ten times a second to decide whether
// to continue; their errors are returned. Both may be nil.
//
// An *Error is a refusal by the engine. After any other error, the process is gone; see Usable.
func (p *Process) Do(ctx context.Context, name string, fields any, step func(Step) error, check func() error) (Answer, error) {
	if p.broken.Load() {
		return Answer{}, fmt.Errorf("engine: %s: it failed before", p.Hello.Title())
	}
	answer, err := p.do(ctx, name, fields, step, check)
	if err == nil {
		return answer, nil
	}
	var said *Error
	if errors.As(err, &said) && said.stays() {
		said.Engine = p.Hello.Title()
		return Answer{}, err
	}
	p.broken.Store(true)
	if stopped := ctx.Err() != nil || check != nil && check() != nil; stopped {
		p.Close() // between two steps
		return Answer{}, err
	}
	return Answer{}, p.end(p.Hello.Title(), fmt.Errorf("%s: %w", name, err))
}

func (p *Process) do(ctx context.Context, name string, fields any, step func(Step) error, check func() error) (Answer, error) {
	if err := p.send(ctx, name, fields); err != nil {
		return Answer{}, err
	}
	for last := 0; ; {
		l, err := p.hear(ctx, p.limits.Order, check)
		switch {
		case err != nil:
			return Answer{}, err
		case l.err != nil:
			return Answer{}, l.err
		case l.answer != nil && l.answer.Done == name:
			return *l.answer, nil
		case l.step == nil || step == nil || l.step.Step <= last: // steps must increase, so that they come to an end
			return Answer{}, fmt.Errorf("its answer is one to something else")
		}
		last = l.step.Step
		if err := step(*l.step); err != nil {
			return Answer{}, err
		}
	}
}

// end ends a process that has failed, and describes that: how it ended, if by itself, and the end of its stderr.
func (p *Process) end(name string, err error) error {
	p.broken.Store(true)
	said := &Error{Kind: Failed, Message: err.Error()}
	var its *Error
	if errors.As(err, &its) {
		said = its
	}
	if its != nil || errors.Is(err, errEnded) || errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EPIPE) { // it is exiting
		select {
		case <-p.gone:
			if p.exit != nil && its == nil {
				said.Message += fmt.Sprintf(" (%v)", p.exit)
			}
		case <-time.After(2 * time.Second):
		}
	}
	p.Kill()
	said.Engine, said.Stderr = name, p.stderr.text()
	return said
}

// PID is the process number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Usable reports whether the process can take another order.
func (p *Process) Usable() bool {
	select {
	case <-p.gone:
		return false
	default:
		return !p.broken.Load()
	}
}

// Close ends the process: its input is closed, so it should leave; if it has not left by the deadline, it is killed.
func (p *Process) Close() {
	p.broken.Store(true)
	p.stdin.Close()
	go func() {
		for range p.lines { // nobody reads answers any more, but the writer must not block
		}
	}()
	select {
	case <-p.gone:
	case <-time.After(p.limits.Leave):
		p.Kill()
	}
}

// Kill ends the process, and everything it has started, at once.
func (p *Process) Kill() {
	p.broken.Store(true)
	p.stdin.Close()
	select {
	case <-p.gone: // the number may belong to another process by now
		return
	default:
	}
	killGroup(p.cmd)
	<-p.gone
}
