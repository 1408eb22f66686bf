package parallel_test

import (
	"fmt"

	"collapse.example/collapse/parallel"
)

// sums adds the rows of a matrix, a part each.
type sums struct {
	rows [][]float64
	out  []float64
}

func (s *sums) Run(part int) {
	for _, v := range s.rows[part] {
		s.out[part] += v
	}
}

func Example() {
	team := parallel.NewTeam(0) // as many threads as the process may use
	defer team.Close()

	s := &sums{rows: [][]float64{{1, 2}, {3, 4}, {5, 6}}, out: make([]float64, 3)}
	team.Do(len(s.rows), s)
	fmt.Println(s.out)
	// Output: [3 7 11]
}
