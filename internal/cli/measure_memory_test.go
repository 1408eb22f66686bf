package cli

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

func TestMemoryOfSmallFilesIsBounded(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	small, large := filepath.Join(t.TempDir(), "h.npz"), filepath.Join(t.TempDir(), "big.npz")
	for path, size := range map[string]int64{small: 100, large: smallInput} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		files   []string
		given   int64 // GOMEMLIMIT
		bounded int64
	}{
		{[]string{small}, math.MaxInt64, smallMemory}, {[]string{large}, math.MaxInt64, smallMemory},
		{[]string{small, large}, math.MaxInt64, math.MaxInt64}, {[]string{"-"}, math.MaxInt64, math.MaxInt64},
		{[]string{small}, 5 << 30, 5 << 30},
	} {
		debug.SetMemoryLimit(c.given)
		undo := (&measureCmd{Files: c.files}).boundMemory()
		if limit := debug.SetMemoryLimit(-1); limit != c.bounded {
			t.Errorf("%v with a limit of %d: %d, want %d", c.files, c.given, limit, c.bounded)
		}
		undo()
		if limit := debug.SetMemoryLimit(-1); limit != c.given {
			t.Errorf("%v: %d afterwards, want %d", c.files, limit, c.given)
		}
	}
}
