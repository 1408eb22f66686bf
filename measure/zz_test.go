package measure

import (
	"collapse/internal/kernel"
	"testing"
)

func BenchmarkZZ(b *testing.B) {
	in := gaussian[float32](50000, 512, 10, .05, 7)
	team := kernel.NewTeam(2)
	defer team.Close()
	e, _ := NewEngine[float32](Options{Team: team, Uncertainty: true})
	for b.Loop() {
		if _, err := e.Measure(in); err != nil {
			b.Fatal(err)
		}
	}
}
