package tensorboard

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"collapse.example/collapse/internal/tensorboard/tensorboardtest"
)

// What an independent reader, with its own checksums, finds in a file is what was written.
func TestEventsReadBack(t *testing.T) {
	if tensorboardtest.CRC([]byte("123456789")) != 0xe3069283 { // the check value of CRC-32C (RFC 3720)
		t.Fatal("the test's own checksum is wrong")
	}
	rapid.Check(t, func(t *rapid.T) {
		var file bytes.Buffer
		created := time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "created"))
		w, err := NewWriter(&file, created)
		if err != nil {
			t.Fatal(err)
		}
		written := rapid.SliceOfN(rapid.MapOfN(rapid.String(), rapid.Float64(), 1, 5), 0, 6).Draw(t, "values")
		for i, values := range written {
			var scalars []Scalar
			for tag, v := range values {
				scalars = append(scalars, Scalar{tag, v})
			}
			if err := w.Write(created.Add(time.Duration(i)*time.Second), int64(i)*1000, scalars); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Write(created, 7, nil); err != nil {
			t.Fatal(err)
		}
		got, err := tensorboardtest.Read(file.Bytes())
		if err != nil || len(got) != 1+len(written) {
			t.Fatalf("%d records, %v; wanted %d", len(got), err, 1+len(written))
		}
		for i, d := range got {
			if i == 0 {
				if d.Version != "brain.Event:2" || d.Values != nil {
					t.Fatalf("the first record is %+v", d)
				}
				continue
			}
			wall := float64(created.Add(time.Duration(i-1)*time.Second).UnixMicro()) / 1e6
			if d.Step != int64(i-1)*1000 || d.Wall != wall || len(d.Values) != len(written[i-1]) {
				t.Fatalf("record %d is %+v", i, d)
			}
			for tag, v := range written[i-1] {
				if d.Values[tag] != float32(v) {
					t.Fatalf("%q is %g, wanted %g", tag, d.Values[tag], v)
				}
			}
		}
	})
}

// TensorFlow's own files begin with these bytes: a first record of 24 bytes, its checksum, and a wall time as field 1.
func TestFirstBytesAreTensorFlows(t *testing.T) {
	var file bytes.Buffer
	if _, err := NewWriter(&file, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if want := "\x18\x00\x00\x00\x00\x00\x00\x00\xa3\x7fK\x22\x09"; !bytes.HasPrefix(file.Bytes(), []byte(want)) {
		t.Errorf("% x", file.Bytes()[:13])
	}
	if got := FileName(time.Unix(1763740000, 5)); got != "events.out.tfevents.1763740000.collapse" {
		t.Error(got)
	}
}

type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errors.New("disk full")
	}
	return len(b), nil
}

func TestAFullDiskIsSaid(t *testing.T) {
	if _, err := NewWriter(&full{20}, time.Unix(1, 0)); err == nil {
		t.Error("a half record passed")
	}
	w, err := NewWriter(&full{45}, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(time.Unix(1, 0), 1, []Scalar{{"a/b", 1}}); err == nil {
		t.Error("a half record passed")
	}
}
