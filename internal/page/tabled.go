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

// tableShown is a table that a study asks for.
type tableShown struct {
	ID, Title, Caption string
	Table              format.Table
	filled             judge.Tabled
}

func tablesShown(tables []judge.Tabled) (out []tableShown) {
	for i, t := range tables {
		out = append(out, tableShown{strconv.Itoa(i + 1), t.Title, t.Caption, t.Shown(), t})
	}
	return out
}

// writeTables writes tables/N.tex and .csv, and returns the paths without extensions.
func writeTables(files *outfile.Files, tables []tableShown) (paths []string, err error) {
	files = files.Below(tablesDir)
	for _, t := range tables {
		if err := files.PutBytes(t.ID+".tex", []byte(t.filled.LaTeX())); err != nil {
			return nil, err
		}
		err := files.Put(t.ID+".csv", func(w io.Writer) error {
			to := csv.NewWriter(w)
			for _, line := range t.filled.CSV() {
				if err := to.Write(safetext.Cells(line)); err != nil {
					return err
				}
			}
			to.Flush()
			return to.Error()
		})
		if err != nil {
			return nil, err
		}
		paths = append(paths, files.Path(t.ID))
	}
	return paths, nil
}
