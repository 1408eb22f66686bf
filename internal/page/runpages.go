package page

import (
	"fmt"
	"time"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
)

// runsTable lists runs; the first column is the start of a run's hash.
type runsTable struct {
	format.Table
	Pages bool // runs/<hash>/index.html exists next to the page
}

// manyRuns is the number of runs from which their table is folded.
const manyRuns = 40

// Long reports whether the table is folded.
func (t runsTable) Long() bool { return len(t.Rows) > manyRuns }

// hashStart names a run in tables, folders and commands.
func hashStart(r *judge.Run) string { return fmt.Sprintf("%.12s", r.Hash) }

// writeRunPages writes each run's own page below runs, the same that collapse report writes.
func writeRunPages(files *outfile.Files, runs []judge.Run, made time.Time) (pages []string, err error) {
	for i := range runs {
		name := hashStart(&runs[i])
		res, err := write(files.Below("runs/"+name), Study{ID: "report", Runs: runs[i : i+1], Commands: []string{"collapse report " + name}, Generated: made})
		if err != nil {
			return pages, fmt.Errorf("the page of run %s: %w", name, err)
		}
		pages = append(pages, res.Index)
	}
	return pages, nil
}
