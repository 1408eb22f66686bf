//go:build unix

package inputfile

import "syscall"

// nonBlocking keeps a pipe that took a file's place from making its reader wait for a writer.
const nonBlocking = syscall.O_NONBLOCK
