package shards

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"collapse.example/collapse/arrayfile"
)

// A shard that another program cuts is an error that names it, and no end of the process.
func TestShardsThatChange(t *testing.T) {
	const n, d = 4000, 8
	path := filepath.Join(t.TempDir(), "h.npy")
	var b bytes.Buffer
	if err := errors.Join(arrayfile.WriteNPY(&b, arrayfile.Of("", []int{n, d}, make([]float32, n*d))), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err := Open[float32](path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sum := func() error {
		rows, err := s.Read(nil, 0, n)
		for _, x := range rows {
			if x != 0 {
				return errors.New("not what was written")
			}
		}
		return err
	}
	if err := s.Reading(sum); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{128 + 4*n*d - 4, 4096} {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		var changed *arrayfile.ChangedError
		if err := s.Reading(sum); !errors.As(err, &changed) || changed.Path != path {
			t.Errorf("cut to %d bytes: %v", size, err)
		}
	}
}
