package chart

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"collapse.example/collapse/internal/safetext"
)

// csvHeader names the columns of WriteCSV: one row per point, segment or heat-map cell.
var csvHeader = []string{"figure", "panel", "series", "label", "kind", "index",
	"x", "y", "x_lo", "x_hi", "y_lo", "y_hi", "x2", "y2", "z", "n", "point_label"}

// WriteCSV writes every number of the figures, drawn or not, in tidy rows under one header. A field that a series lacks is empty;
// non-finite values are NaN, +Inf or -Inf.
func WriteCSV(w io.Writer, figures ...Figure) error {
	out := csv.NewWriter(w)
	rows := [][]string{csvHeader}
	for i := range figures {
		figures[i].check()
		for _, p := range figures[i].Panels {
			for j := range p.Series {
				rows = append(rows, seriesRows(figures[i].ID, p.ID, &p.Series[j])...)
			}
		}
	}
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("chart: figure data as CSV: %w", err)
	}
	return nil
}

func seriesRows(figure, panel string, s *Series) [][]string {
	head := func(i int) []string {
		return []string{safetext.Cell(figure), safetext.Cell(panel), safetext.Cell(s.ID), safetext.Cell(s.Label), string(s.Kind), strconv.Itoa(i)}
	}
	var rows [][]string
	if h := s.Heat; h != nil {
		for i, z := range h.Z {
			x, y := h.center(i)
			rows = append(rows, append(head(i), number(x), number(y), "", "", "", "", "", "", number(z), "", ""))
		}
		return rows
	}
	for i := range s.count() {
		row := head(i)
		for _, v := range []Numbers{s.X, s.Y, s.XLo, s.XHi, s.YLo, s.YHi, s.X2, s.Y2} {
			row = append(row, numberAt(v, i))
		}
		n, label := "", ""
		if len(s.N) > 0 {
			n = strconv.Itoa(s.N[i])
		}
		if i < len(s.Labels) {
			label = safetext.Cell(s.Labels[i])
		}
		rows = append(rows, append(row, numberAt(s.Z, i), n, label))
	}
	return rows
}

func numberAt(v Numbers, i int) string {
	if len(v) == 0 {
		return ""
	}
	return number(v[i])
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// center is the centre of the i-th cell.
func (h *Heat) center(i int) (x, y float64) {
	c, r := i%h.Columns, i/h.Columns
	x = h.X[0] + (h.X[1]-h.X[0])*(float64(c)+0.5)/float64(h.Columns)
	y = h.Y[0] + (h.Y[1]-h.Y[0])*(float64(r)+0.5)/float64(h.Rows)
	return x, y
}
