//go:build unix

package outfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// descriptor returns N for a name of this process's own descriptor N: /dev/fd/N, /proc/self/fd/N.
func descriptor(path string) (n int, own bool) {
	base := filepath.Base(path)
	n, err := strconv.Atoi(base)
	if err != nil || n < 0 || strconv.Itoa(n) != base {
		return n, false
	}
	dir, err := realDir(path)
	if err != nil {
		return n, false
	}
	if dir == "/dev/fd" { // a folder of its own where there is no /proc
		return n, true
	}
	self, err := os.Readlink("/proc/self")
	if err != nil {
		return n, false
	}
	return n, dir == "/proc/"+self+"/fd" || strings.HasPrefix(dir, "/proc/"+self+"/task/") && strings.HasSuffix(dir, "/fd")
}

var descriptorFolder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/proc/[0-9]+(/task/[0-9]+)?/fd$`) })

// inDescriptors reports whether a link is a descriptor of another process, whose text is not a name.
func inDescriptors(path string) bool {
	dir, err := realDir(path)
	return err == nil && descriptorFolder().MatchString(dir)
}

// duplicate returns a descriptor that was handed to this process, so that it stays open and is the right one however
// long the work takes. Descriptors that the process opened itself are closed on exec, and are nobody's output.
func duplicate(n int) (*os.File, error) {
	flags, closed := unix.FcntlInt(uintptr(n), unix.F_GETFD, 0)
	mode, alsoClosed := unix.FcntlInt(uintptr(n), unix.F_GETFL, 0)
	if closed != nil || alsoClosed != nil || n > 2 && flags&unix.FD_CLOEXEC != 0 {
		return nil, &MisuseError{fmt.Sprintf("descriptor %d was not open when the program started", n)}
	}
	if mode&unix.O_ACCMODE == unix.O_RDONLY {
		return nil, &MisuseError{fmt.Sprintf("descriptor %d is open for reading only", n)}
	}
	fd, err := unix.FcntlInt(uintptr(n), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), fmt.Sprintf("descriptor %d", n)), nil
}

// mayWrite asks for permission alone.
func mayWrite(path string) error { return unix.Access(path, unix.W_OK) }

// openThrough opens a pipe or device for writing. It waits for a pipe's reader until ctx ends.
func openThrough(ctx context.Context, path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, cause(err)
	}
	flags := os.O_WRONLY | syscall.O_NOCTTY
	switch {
	case info.Mode().IsRegular(): // another process's descriptor
		flags |= os.O_TRUNC
	case info.Mode()&fs.ModeNamedPipe != 0:
		flags |= syscall.O_NONBLOCK // fails at once without a reader, where an ordinary call waits for ever
	}
	for {
		f, err := os.OpenFile(path, flags, 0)
		if info.Mode()&fs.ModeNamedPipe == 0 || !errors.Is(err, syscall.ENXIO) {
			return f, cause(err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// hasMore reports whether a file has something that a new one in its place would lack.
func hasMore(path string, info os.FileInfo) bool {
	return info.Sys().(*syscall.Stat_t).Nlink > 1 || hasList(path)
}

// inherit gives the owner of an old file to a new one.
func inherit(f *os.File, old os.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	was, is := old.Sys().(*syscall.Stat_t), info.Sys().(*syscall.Stat_t)
	if was.Uid == is.Uid && was.Gid == is.Gid {
		return nil
	}
	return f.Chown(int(was.Uid), int(was.Gid))
}

// lockFolder waits until no other process has the lock of an open folder, or ctx has ended. Where there are no such locks, as on some network
// file systems, it does nothing. Closing the folder, or the end of the process, gives the lock back.
func lockFolder(ctx context.Context, folder *os.File) error {
	for errors.Is(unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
