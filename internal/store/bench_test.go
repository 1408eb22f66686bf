package store

import (
	"fmt"
	"testing"
)

// epochRows makes n rows of one epoch under as many keys.
func epochRows(n int, epoch int64) []Value {
	rows := make([]Value, n)
	for i := range rows {
		rows[i] = Value{Key: Key{"epoch", "train", "", fmt.Sprintf("m%04d", i)}, Step: epoch, Value: float64(i) + float64(epoch)/1024}
	}
	return rows
}

// BenchmarkAppendEpoch writes batches of 100 series, as a run does after an epoch (one step) or when
// it brings a whole curve (200 steps).
func BenchmarkAppendEpoch(b *testing.B) {
	for _, steps := range []int{1, 20, 200} {
		b.Run(fmt.Sprintf("100x%d", steps), func(b *testing.B) {
			l := open(b, b.TempDir())
			c, _, err := l.Lease(spec(1))
			if err != nil {
				b.Fatal(err)
			}
			var rows []Value
			for range steps {
				rows = append(rows, epochRows(100, 0)...)
			}
			epoch := int64(0)
			for b.Loop() {
				for i := range rows {
					rows[i].Step = epoch*int64(steps) + int64(i/100)
				}
				if err := c.AppendEpoch(epoch, rows); err != nil {
					b.Fatal(err)
				}
				epoch++
			}
			b.ReportMetric(float64(len(rows))*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkSeries(b *testing.B) {
	l := open(b, b.TempDir())
	c, run, err := l.Lease(spec(1))
	if err != nil {
		b.Fatal(err)
	}
	var rows []Value
	for e := range int64(1000) {
		rows = append(rows, epochRows(100, e)...)
	}
	if err := c.AppendEpoch(999, rows); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		points, err := l.Series(run.Hash, rows[17].Key)
		if err != nil || len(points) != 1000 {
			b.Fatalf("%d points, %v", len(points), err)
		}
	}
}
