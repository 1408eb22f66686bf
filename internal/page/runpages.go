package page

import (
	"fmt"
	"iter"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/format"
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

// writeRunPages writes each run's own page below runs, the same that collapse report writes.
func writeRunPages(files *outfile.Files, found iter.Seq2[findings.StudyFindings, error]) (pages []string, err error) {
	for of, err := range found {
		name := of.Runs[0].Hash[:min(12, len(of.Runs[0].Hash))]
		if err == nil {
			var res Written
			res, err = write(files.Below("runs/"+name), of)
			pages = append(pages, res.Index)
		}
		if err != nil {
			return pages, fmt.Errorf("the page of run %s: %w", name, err)
		}
	}
	return pages, nil
}
