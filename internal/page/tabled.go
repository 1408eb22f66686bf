package page

import (
	"encoding/csv"
	"io"
	"strconv"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/safetext"
)

const tablesDir = "tables"

// TableWriters write a table as a file, by its extension.
var TableWriters = map[string]func(io.Writer, judge.Tabled) error{
	".tex": func(w io.Writer, t judge.Tabled) error {
		_, err := io.WriteString(w, t.LaTeX())
		return err
	},
	".csv": func(w io.Writer, t judge.Tabled) error {
		to := csv.NewWriter(w)
		for _, line := range t.CSV() {
			if err := to.Write(safetext.Cells(line)); err != nil {
				return err
			}
		}
		to.Flush()
		return to.Error()
	},
}

// tableShown is a table that a study asks for.
type tableShown struct {
	ID, Title, Caption string
	Table              format.Table
	filled             judge.Tabled
}

// tablesShown prepares tables; from is the number of those before them on the page.
func tablesShown(from int, tables []judge.Tabled) (out []tableShown) {
	for i, t := range tables {
		out = append(out, tableShown{strconv.Itoa(from + i + 1), t.Title, t.Caption, t.Shown(), t})
	}
	return out
}

// writeTables writes tables/N.tex and .csv, and returns the paths without extensions.
func writeTables(files *outfile.Files, tables []tableShown) (paths []string, err error) {
	files = files.Below(tablesDir)
	for _, t := range tables {
		for _, ext := range []string{".tex", ".csv"} {
			if err := files.Put(t.ID+ext, func(w io.Writer) error { return TableWriters[ext](w, t.filled) }); err != nil {
				return nil, err
			}
		}
		paths = append(paths, files.Path(t.ID))
	}
	return paths, nil
}
