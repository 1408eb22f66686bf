package zipped

import (
	"bytes"
	"testing"
)

func TestUnpackReturnsWhatWasPacked(t *testing.T) {
	for _, text := range [][]byte{{}, []byte("one line\n"), bytes.Repeat([]byte("neural collapse "), 10000)} {
		if got := Unpack(Pack(text)); !bytes.Equal(got, text) {
			t.Errorf("got %d bytes, want %d", len(got), len(text))
		}
		if got := FromBrotli(Brotli(text)); !bytes.Equal(got, text) {
			t.Errorf("brotli: got %d bytes, want %d", len(got), len(text))
		}
	}
}
