package measure

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// TestStateOfTooManySamples: counts that are possible one by one add up beyond what integers hold.
func TestStateOfTooManySamples(t *testing.T) {
	for count, want := range map[int]string{1 << 40: "", 1 << 52: "more samples than numbers can count"} {
		m := NewMoments(4000, 1, false)
		for c := range m.Count {
			m.Count[c] = count
		}
		var b bytes.Buffer
		if _, err := m.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		_, err := ReadState(b.Bytes())
		var bad *StateError
		if want == "" && err != nil || want != "" && (!errors.As(err, &bad) || !strings.Contains(err.Error(), want)) {
			t.Errorf("4000 classes of %d samples: %v", count, err)
		}
	}
}
