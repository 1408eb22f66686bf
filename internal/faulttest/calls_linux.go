package faulttest

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// FileCalls are the system calls by which Go's os package changes and looks at files, but for reads and writes, which the runtime makes,
// too: small disks (SmallDisk) let those fail.
var FileCalls = map[uintptr]string{
	unix.SYS_OPENAT: "openat", unix.SYS_FSYNC: "fsync", unix.SYS_FTRUNCATE: "ftruncate", unix.SYS_LSEEK: "lseek", unix.SYS_FSTAT: "fstat",
	unix.SYS_NEWFSTATAT: "fstatat", unix.SYS_RENAMEAT: "renameat", unix.SYS_UNLINKAT: "unlinkat", unix.SYS_MKDIRAT: "mkdirat", unix.SYS_LINKAT: "linkat",
	unix.SYS_FCHMOD: "fchmod", unix.SYS_FCHOWN: "fchown", unix.SYS_READLINKAT: "readlinkat", unix.SYS_GETDENTS64: "getdents64",
	unix.SYS_PWRITE64: "pwrite64", unix.SYS_COPY_FILE_RANGE: "copy_file_range",
}

// EachCall runs do, which must work in its own goroutine, again and again: the first time call 1 of FileCalls fails with errno, then
// call 2, until do needs no more calls. after is told which call failed, as "fsync, call 7", and what do returned. The kernel asks a second
// thread before each call of the thread that runs do (seccomp's user notification), so nothing has to be made for tests in the code.
func EachCall(t *testing.T, errno syscall.Errno, do func() error, after func(call string, err error)) {
	t.Helper()
	for n := 1; ; n++ {
		w := &warden{n: n, errno: errno}
		err := w.run(do)
		var not *notHere
		switch {
		case errors.As(err, &not) && n == 1:
			t.Skip(err)
		case w.calls < n:
			if err != nil {
				t.Errorf("no call fails: %v", err)
			}
			return
		case n > 10_000:
			t.Fatal("it never ends")
		}
		after(fmt.Sprintf("%s, call %d", w.failed, n), err)
	}
}

// notHere says that system calls cannot be made to fail.
type notHere struct{ error }

// warden decides on the calls of one thread.
type warden struct {
	n      int // the call that fails
	errno  syscall.Errno
	calls  int
	failed string
}

// run runs do in a thread that ends with it.
func (w *warden) run(do func() error) error {
	type begun struct {
		listener int
		err      error
	}
	ready, done, over := make(chan begun), make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread() // for good: the filter cannot be taken away
		listener, err := filter()
		ready <- begun{listener, err}
		if err == nil {
			done <- do()
		}
	}()
	b := <-ready
	if b.err != nil {
		return &notHere{b.err}
	}
	stop := make(chan struct{})
	go func() { defer close(over); w.watch(b.listener, stop) }()
	err := <-done
	close(stop)
	<-over
	return err
}

// filter lets the kernel ask before each of FileCalls of this thread, and returns the descriptor on which it asks.
func filter() (listener int, err error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("system calls cannot be filtered here: %w", err)
	}
	const load, equal, answer = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	program := []unix.SockFilter{{Code: load}} // the number of the call
	for number := range FileCalls {
		program = append(program, unix.SockFilter{Code: equal, Jf: 1, K: uint32(number)}, unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_USER_NOTIF})
	}
	program = append(program, unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW})
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&p)))
	if errno != 0 {
		return 0, fmt.Errorf("system calls cannot be filtered here: %w", errno)
	}
	return int(fd), nil
}

// question and answer are what the kernel asks and is told: struct seccomp_notif and seccomp_notif_resp.
type question struct {
	id      uint64
	pid     uint32
	flags   uint32
	number  int32
	arch    uint32
	pointer uint64
	args    [6]uint64
}

type answer struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// watch answers until stop is closed.
func (w *warden) watch(listener int, stop <-chan struct{}) {
	defer unix.Close(listener)
	for {
		poll := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if n, err := unix.Poll(poll, 1); n <= 0 || err != nil || poll[0].Revents&unix.POLLIN == 0 {
			select {
			case <-stop:
				return
			default:
				continue
			}
		}
		var q question
		if ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&q)) != 0 {
			continue // a signal has interrupted the call, which comes again
		}
		a := answer{id: q.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if w.calls+1 == w.n {
			a = answer{id: q.id, errno: -int32(w.errno)}
			w.failed = FileCalls[uintptr(q.number)]
		}
		if ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)) == 0 {
			w.calls++
		}
	}
}

func ioctl(fd int, request uint, p unsafe.Pointer) unix.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(p))
	return errno
}
