package memory

import "golang.org/x/sys/unix"

// adviseHuge asks for large pages under b: for memory without pages yet, from now on; for reused memory with small pages, by
// collapsing them. If the system refuses, that only costs speed.
func adviseHuge(b []byte) {
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	_ = unix.Madvise(b, unix.MADV_COLLAPSE)
}
