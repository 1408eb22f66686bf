// Package export writes runs of a lab for other programs: as one tidy table (table.go), or as TensorBoard event files
// (tensorboard.go). select.go finds runs by the names of studies and by hashes.
package export

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

// tidyColumns are the first columns of every exported table; the settings that differ between the runs follow.
var tidyColumns = []string{"study", "run", "kind", "status", "note", "series", "step", "split", "layer", "measure", "value", "missing"}

// tidyWriter writes a table line by line.
type tidyWriter interface {
	// write takes a run's texts, by column, the settings that follow them, and one value.
	write(texts []string, settings []any, v store.Value) error
	close() error
}

// Table writes runs as one tidy table in the given format (csv, json, parquet): one line per run, epoch and measure, with the
// settings that differ between the runs as text columns. It returns the number of lines. One run at a time is held in memory.
func Table(lab *store.Reader, runs []Selected, format string, w io.Writer) (lines int, err error) {
	settings, keys, err := settingsOf(lab, runs)
	if err != nil {
		return 0, err
	}
	to, err := newTidyWriter(format, append(slices.Clone(tidyColumns), keys...), w)
	if err != nil {
		return 0, err
	}
	for i, r := range runs {
		values, err := lab.Values(r.Hash)
		if err != nil {
			return lines, err
		}
		texts, own := []string{r.Study, r.Hash, string(r.Kind), string(r.Status), r.Note}, make([]any, len(keys))
		for k, key := range keys {
			own[k] = settings[i][key]
		}
		for _, v := range values {
			if err := to.write(texts, own, v); err != nil {
				return lines, fmt.Errorf("study: exporting: %w", err)
			}
			lines++
		}
	}
	if err := to.close(); err != nil {
		return lines, fmt.Errorf("study: exporting: %w", err)
	}
	return lines, nil
}

func newTidyWriter(format string, columns []string, w io.Writer) (tidyWriter, error) {
	switch format {
	case "csv":
		c := &csvTidy{w: csv.NewWriter(w), line: make([]string, len(columns))}
		return c, c.w.Write(safetext.Cells(columns))
	case "json":
		_, err := io.WriteString(w, "[")
		return &jsonTidy{w: w, columns: columns}, err
	case "parquet":
		return newParquetTidy(columns, w), nil
	}
	return nil, fmt.Errorf("study: format %q; wanted csv, json or parquet", format)
}

// settingsOf returns the settings of runs, and the keys of those that differ.
func settingsOf(lab *store.Reader, selected []Selected) ([]map[string]any, []string, error) {
	runs := make([]store.Run, len(selected))
	for i, r := range selected {
		var err error
		if runs[i], err = lab.Run(r.Hash); err != nil {
			return nil, nil, err
		}
	}
	return study.Settings(runs)
}

// fill spreads a run's texts, settings and a value over the columns, except step and value.
func fill(line []string, texts []string, settings []any, v store.Value) {
	copy(line, texts)
	copy(line[len(texts):], []string{v.Series, strconv.FormatInt(v.Step, 10), v.Split, v.Layer, v.Measure, "", v.Missing})
	for i, x := range settings {
		line[len(tidyColumns)+i] = study.SettingText(x)
	}
}

const (
	stepColumn  = 6
	valueColumn = 10
)

type csvTidy struct {
	w    *csv.Writer
	line []string
}

func (c *csvTidy) write(texts []string, settings []any, v store.Value) error {
	fill(c.line, texts, settings, v)
	for i, text := range c.line {
		c.line[i] = safetext.Cell(text)
	}
	if v.Missing == "" {
		c.line[valueColumn] = strconv.FormatFloat(v.Value, 'g', -1, 64)
	}
	return c.w.Write(c.line)
}

func (c *csvTidy) close() error {
	c.w.Flush()
	return c.w.Error()
}

type jsonTidy struct {
	w       io.Writer
	columns []string
	more    bool
}

func (j *jsonTidy) write(texts []string, settings []any, v store.Value) error {
	line := make([]string, len(j.columns))
	fill(line, texts, settings, v)
	object := make(map[string]any, len(line))
	for i, c := range j.columns {
		object[c] = line[i]
	}
	for i, x := range settings {
		object[j.columns[len(tidyColumns)+i]] = x // numbers stay numbers
	}
	object["step"], object["value"] = v.Step, any(nil)
	if v.Missing == "" && !math.IsInf(v.Value, 0) && !math.IsNaN(v.Value) {
		object["value"] = v.Value
	}
	b, err := json.Marshal(object)
	if err != nil {
		return err
	}
	before := "\n"
	if j.more {
		before = ",\n"
	}
	j.more = true
	_, err = io.WriteString(j.w, before+string(b))
	return err
}

func (j *jsonTidy) close() error {
	_, err := io.WriteString(j.w, "\n]\n")
	return err
}

// parquetTidy writes texts with dictionaries, which makes repeated ones almost free.
type parquetTidy struct {
	w     *parquet.GenericWriter[any]
	place []int // of each column in the file, which sorts them
	line  []string
}

func newParquetTidy(columns []string, w io.Writer) *parquetTidy {
	group := parquet.Group{}
	for _, c := range columns {
		group[c] = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	}
	group["step"] = parquet.Int(64)
	group["value"] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
	sorted := slices.Sorted(slices.Values(columns))
	p := &parquetTidy{w: parquet.NewGenericWriter[any](w, parquet.NewSchema("tidy", group), parquet.Compression(&parquet.Zstd)), line: make([]string, len(columns))}
	for _, c := range columns {
		p.place = append(p.place, slices.Index(sorted, c))
	}
	return p
}

func (p *parquetTidy) write(texts []string, settings []any, v store.Value) error {
	fill(p.line, texts, settings, v)
	row := make(parquet.Row, len(p.line))
	for i, text := range p.line {
		value := parquet.ByteArrayValue([]byte(text)).Level(0, 0, p.place[i])
		switch {
		case i == stepColumn:
			value = parquet.Int64Value(v.Step).Level(0, 0, p.place[i])
		case i == valueColumn && v.Missing == "":
			value = parquet.DoubleValue(v.Value).Level(0, 1, p.place[i])
		case i == valueColumn:
			value = parquet.NullValue().Level(0, 0, p.place[i])
		}
		row[p.place[i]] = value
	}
	_, err := p.w.WriteRows([]parquet.Row{row})
	return err
}

func (p *parquetTidy) close() error { return p.w.Close() }
