// Package powercut tests what is left on a disk when the power fails. It records what a process asks of the file system, and then makes, for
// every moment of the recording, folders that a disk may hold which forgot what was not synced.
//
// A test calls Record with a process, and Recording.Cuts with what must hold in each such folder.
package powercut

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// traced are the calls that change files or make changes durable, and those that this package must notice because it cannot repeat them.
const traced = "open,openat,openat2,creat,lseek,dup,dup2,dup3,fcntl,write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,sync_file_range,syncfs,sync," +
	"rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,ftruncate,truncate,fallocate,mmap,link,linkat,symlink,symlinkat," +
	"copy_file_range,sendfile,splice,mknod,mknodat,io_uring_setup"

// Recording is what a process did to the files below a folder.
type Recording struct {
	Root string // the folder, as the process left it

	// Named says that syncing a file makes its name durable, too, as ext4, XFS and Btrfs do. POSIX asks for a sync of the folder.
	Named bool

	events []event
}

// Record runs a process that works in the folder root, which must be empty, and records what it does there. Each line of its standard output is a promise:
// Cut.Said has those that were made before the cut.
func Record(t *testing.T, root string, cmd *exec.Cmd) *Recording {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed, which records what a process does to files")
	}
	root, err = filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "trace")
	cmd.Args = append([]string{strace, "-f", "--seccomp-bpf", "-y", "-xx", "-s", "1000000000", "-o", log, "-e", "trace=" + traced, "-e", "signal=none", cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.Dir = strace, root
	var words strings.Builder
	cmd.Stderr = &words
	if err := cmd.Run(); err != nil {
		t.Fatalf("the process that is recorded: %v\n%s", err, words.String())
	}
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, err := parse(f, root)
	if err != nil {
		t.Fatal(err)
	}
	r := &Recording{Root: root, events: events}
	r.repeats(t)
	return r
}
