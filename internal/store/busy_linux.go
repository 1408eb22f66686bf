package store

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lockHolder finds the process that holds the write lock of the database at path: its number, 0 if unknown, its name, and whether it
// is suspended. It reads the system's table of locks. Asking for the lock itself would need a descriptor of the file, and closing
// that descriptor would drop SQLite's own locks.
func lockHolder(path string) (pid int, name string, suspended bool) {
	f, err := os.Open("/proc/locks")
	if err != nil {
		return 0, "", false
	}
	defer f.Close()
	pid = holderIn(f, inode(path+"-shm"), inode(path))
	state, _, _ := readStat(pid) // nothing is known of no process, and of one that has ended or is hidden
	comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return pid, strings.TrimSpace(string(comm)), state == "T"
}

// walWriteLock is the byte of the write-ahead log's index that its writer locks (sqlite.org/walformat.html).
const walWriteLock = 120

// holderIn searches lines such as "1: POSIX  ADVISORY  WRITE 4711 fd:01:393299 120 120" for the writer of the log's index or, if
// there is no log yet, of the database.
func holderIn(locks io.Reader, index, database uint64) int {
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 8 || f[1] != "POSIX" || f[3] != "WRITE" { // a waiting lock has an arrow in field 1
			continue
		}
		node, err := strconv.ParseUint(f[5][strings.LastIndexByte(f[5], ':')+1:], 10, 64)
		if err != nil || node == 0 {
			continue
		}
		first, _ := strconv.ParseUint(f[6], 10, 64)
		last, err := strconv.ParseUint(f[7], 10, 64)
		if covers := err != nil || last >= walWriteLock; node == database || node == index && first <= walWriteLock && covers { // last may be "EOF"
			pid, _ := strconv.Atoi(f[4])
			return max(0, pid) // the system shows processes of other namespaces without a number
		}
	}
	return 0
}

func inode(path string) uint64 {
	var s syscall.Stat_t
	if syscall.Stat(path, &s) != nil {
		return 0
	}
	return s.Ino
}
