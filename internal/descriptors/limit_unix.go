//go:build unix

package descriptors

import "syscall"

// limit is how many descriptors the process may have; Go has raised it as far as the system lets it.
func limit() int {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil || uint64(r.Cur) > most {
		return most
	}
	return int(r.Cur)
}
