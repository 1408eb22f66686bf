package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// thisProcess identifies the host by its boot and by the process namespace: containers of one
// machine share the boot, but not the meaning of a process number.
func thisProcess() process {
	p := process{pid: os.Getpid()}
	p.host, _ = os.Hostname()
	boot, err1 := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, err2 := os.Readlink("/proc/self/ns/pid")
	if err1 == nil && err2 == nil {
		p.hostID = strings.TrimSpace(string(boot)) + " " + space
	}
	_, p.started, _ = readStat(p.pid)
	return p
}

// ended reports whether process pid, started at the given time if that is known, no longer exists.
func ended(pid int, started string) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	state, s, err := readStat(pid)
	if err != nil { // the system may hide other users' processes
		return false
	}
	return state == "Z" || state == "X" || started != "" && s != started
}

// readStat returns fields 3 (state) and 22 (start time in ticks since boot) of /proc/pid/stat.
func readStat(pid int) (state, started string, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", "", err
	}
	return statFields(pid, b)
}

func statFields(pid int, b []byte) (state, started string, err error) {
	// Field 2 is the command in brackets and may contain anything, even brackets.
	i := strings.LastIndexByte(string(b), ')')
	fields := strings.Fields(string(b[i+1:]))
	if len(fields) < 20 {
		return "", "", fmt.Errorf("store: /proc/%d/stat has %d fields", pid, len(fields)+2)
	}
	return fields[0], fields[19], nil
}
