package kernel

import "golang.org/x/sys/unix"

// adviseHuge asks for large pages under b. A system that refuses only costs speed.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
