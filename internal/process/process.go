// Package process runs programs that may start others: each in a process group of its own, which is stopped as a whole and does not
// outlive this process. Open process.go; group_unix.go says how a group is signalled, parent_linux.go and watch_unix.go what becomes of
// it when this process is killed.
package process

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// Child is a program with all that it has started. A program that makes a session of its own (setsid) leaves the group and is
// not followed.
type Child struct {
	cmd   *exec.Cmd
	watch *watch
	ended chan struct{}
	err   error // how it ended; read after ended is closed

	stopping sync.Mutex // held while the group is being stopped
	stopped  bool       // Stop was called; guarded by stopping
}

// pipesAfter is how long output is read after the program has ended: what it left behind may hold the pipe.
const pipesAfter = time.Second

// Start starts a program in a group of its own. When it ends, what is left of its group is killed. If this process is killed, so is
// the group.
func Start(cmd *exec.Cmd) (*Child, error) {
	cmd.SysProcAttr = ownGroup(cmd.SysProcAttr)
	cmd.WaitDelay = pipesAfter
	c := &Child{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go c.run(started)
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// run starts the program and waits for it, on one thread: the system notices the end of the thread that started a program, not of
// the process.
func (c *Child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := c.cmd.Start(); err != nil {
		started <- err
		return
	}
	var err error
	if c.watch, err = startWatch(c.Pid()); err != nil {
		signalGroup(c.Pid(), kill)
		c.cmd.Wait()
		started <- fmt.Errorf("process: nothing would end %s if this process was killed: %w", c.cmd.Path, err)
		return
	}
	started <- nil
	if c.err = c.cmd.Wait(); errors.Is(c.err, exec.ErrWaitDelay) { // it ended well, but something it left behind held its output
		c.err = nil
	}
	c.stopping.Lock()
	if !c.stopped { // Stop gives the rest of the group time
		signalGroup(c.Pid(), kill)
	}
	c.watch.end()
	close(c.ended)
	c.stopping.Unlock()
}

// Pid is the program's process number, and that of its group.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Ended is closed when the program has ended.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// Err says how the program ended; nil if it ended well. It waits for the end.
func (c *Child) Err() error {
	<-c.ended
	return c.err
}

// killedWithin is how long a killed group is waited for. One that is in the kernel, on a file system that does not answer, stays longer.
const killedWithin = 5 * time.Second

// Stop asks the whole group to end and kills what is left of it after grace; it returns when the group is gone, as far as the system
// lets it go. It may be called at any time, also more than once.
func (c *Child) Stop(grace time.Duration) {
	c.stopping.Lock()
	select {
	case <-c.ended: // and the group's number may be another's by now
		c.stopping.Unlock()
		return
	default:
		c.stopped = true
		c.stopping.Unlock()
	}
	if grace > 0 {
		signalGroup(c.Pid(), terminate)
		c.gone(grace)
	}
	signalGroup(c.Pid(), kill)
	c.gone(killedWithin)
}

// gone waits until the program and its group have ended, for at most the given time.
func (c *Child) gone(within time.Duration) {
	over := time.NewTimer(within)
	defer over.Stop()
	select {
	case <-c.ended:
	case <-over.C:
		return
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for groupLives(c.Pid()) {
		select {
		case <-look.C:
		case <-over.C:
			return
		}
	}
}
