//go:build unix && !linux

package outfile

import "testing"

func asNobody(t *testing.T, _ string, _ func()) {
	t.Skip("one thread cannot be another user here; run this test as a plain user")
}
