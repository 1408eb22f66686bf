//go:build !unix

package process

import (
	"os"
	"syscall"
)

var terminate, kill = os.Interrupt, os.Kill

// ownGroup does nothing: the system has no groups of processes.
func ownGroup(attr *syscall.SysProcAttr) *syscall.SysProcAttr { return attr }

// signalGroup reaches the program alone, and only to kill it.
func signalGroup(pid int, s os.Signal) {
	if s != kill {
		return
	}
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
		p.Release()
	}
}

func groupLives(int) bool { return false }

// watch stands for nothing: see watch_unix.go.
type watch struct{}

func startWatch(int) (*watch, error) { return nil, nil }
func (*watch) end()                  {}
