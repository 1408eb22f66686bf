package arrayfile

import (
	"errors"
	"io"
	"testing"
)

var errRoom = errors.New("no room")

// roomFor takes a number of bytes and then fails.
type roomFor struct{ left int }

func (r *roomFor) Write(p []byte) (int, error) {
	if len(p) > r.left {
		n := r.left
		r.left = 0
		return n, errRoom
	}
	r.left -= len(p)
	return len(p), nil
}

// TestEveryShortWriteIsTold gives each writer of files too few bytes: none, one, … then every eleventh number: a file is never short without an error.
func TestEveryShortWriteIsTold(t *testing.T) {
	arrays := []Array{Of("a", []int{3}, []float32{1, 2, 3}), Of("b", []int{2, 2}, []float64{1, 2, 3, 4})}
	for name, write := range map[string]func(w io.Writer) error{
		"safetensors": func(w io.Writer) error { return WriteSafetensors(w, arrays, map[string]string{"format": "pt"}) },
		"npz":         func(w io.Writer) error { return WriteNPZ(w, arrays) },
		"npy":         func(w io.Writer) error { return WriteNPY(w, arrays[0]) },
	} {
		const most = 1 << 20
		all := &roomFor{most}
		if err := write(all); err != nil {
			t.Fatal(err)
		}
		whole := most - all.left
		for n := range whole {
			if n > 40 && n%11 != 0 && n != whole-1 {
				continue
			}
			if err := write(&roomFor{n}); !errors.Is(err, errRoom) {
				t.Errorf("%s: %d of %d bytes: %v", name, n, whole, err)
			}
		}
		if err := write(&roomFor{whole}); err != nil {
			t.Errorf("%s: room for all %d bytes: %v", name, whole, err)
		}
	}
}
