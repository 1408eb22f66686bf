package memory

import "golang.org/x/sys/unix"

// adviseHuge asks for large pages under b: where there are no pages yet, from now on; where memory that was
// used before holds small ones, by collapsing them. A system that refuses only costs speed.
func adviseHuge(b []byte) {
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	_ = unix.Madvise(b, unix.MADV_COLLAPSE)
}
