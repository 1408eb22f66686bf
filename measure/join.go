package measure

import (
	"fmt"
	"slices"

	"collapse.example/collapse/internal/kernel"
)

// Join is the Source of the rows of parts, one after the other, whatever their lengths: a report of it has
// the same bits as one of the same rows in one piece. It returns *ShapeError if widths differ or there is
// no part.
func Join[T kernel.Float](parts ...Source[T]) (Source[T], error) {
	if len(parts) == 0 {
		return nil, &ShapeError{What: "shards of features", Found: 0, Want: 1}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	_, d := parts[0].Size()
	j := &joined[T]{parts: parts, d: d, start: make([]int, 1, len(parts)+1)}
	for i, p := range parts {
		n, width := p.Size()
		if width != d {
			return nil, &ShapeError{What: fmt.Sprintf("width of feature shard %d", i), Found: width, Want: d, Hint: "all shards have the width of the first"}
		}
		j.start = append(j.start, j.start[i]+n)
	}
	return j, nil
}

type joined[T kernel.Float] struct {
	parts []Source[T]
	start []int // first row of each part, and the number of rows
	d     int
}

func (j *joined[T]) Size() (n, d int) { return j.start[len(j.parts)], j.d }

// Read passes rows through if they lie in one part, and copies across boundaries.
func (j *joined[T]) Read(buf []T, from, to int) ([]T, error) {
	i := j.part(from)
	if to <= j.start[i+1] {
		return j.parts[i].Read(buf, from-j.start[i], to-j.start[i])
	}
	out := buf[:(to-from)*j.d]
	for at := from; at < to; i++ {
		end := min(to, j.start[i+1])
		hole := out[(at-from)*j.d : (end-from)*j.d]
		rows, err := j.parts[i].Read(hole, at-j.start[i], end-j.start[i])
		if err != nil {
			return nil, err
		}
		copy(hole, rows)
		at = end
	}
	return out, nil
}

// part returns the part that holds a row.
func (j *joined[T]) part(row int) int {
	i, found := slices.BinarySearch(j.start, row)
	if !found {
		i--
	}
	for i+1 < len(j.parts) && j.start[i+1] == row { // empty parts
		i++
	}
	return min(i, len(j.parts)-1)
}
