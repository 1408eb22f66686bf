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

	"collapse.example/collapse/internal/safetext"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

// tidyColumns are the first columns of every exported table; the settings that differ between the runs follow.
var tidyColumns = []string{"study", "run", "kind", "status", "note", "series", "step", "split", "layer", "measure", "value", "missing"}

// tidyWriter writes a table line by line.
type tidyWriter interface {
	begin(texts []string, settings []any) // of the next run: its texts, by column, and the settings that come last
	write(v store.Value) error
	close() error
}

// Table writes runs as one tidy table in the given format (csv, json, parquet): one line per run, epoch and measure, with the
// settings that differ between the runs as columns: of numbers in Parquet where each run that has one has a number. It returns the number of lines. One run at a time is held in memory.
func Table(lab *store.Reader, runs []Selected, format string, w io.Writer) (lines int, err error) {
	settings, keys, err := settingsOf(lab, runs)
	if err != nil {
		return 0, err
	}
	keys = append(keys, ofSearches(runs, settings)...)
	to, err := newTidyWriter(format, keys, settings, w)
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
		to.begin(texts, own)
		for _, v := range values {
			if err := to.write(v); err != nil {
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

// columnsFor are the names of all columns. A script's setting that is called as one of the first has "setting." before its name.
func columnsFor(keys []string) []string {
	columns := slices.Clone(tidyColumns)
	for _, key := range keys {
		for slices.Contains(columns, key) {
			key = "setting." + key
		}
		columns = append(columns, key)
	}
	return columns
}

func newTidyWriter(format string, keys []string, settings []map[string]any, w io.Writer) (tidyWriter, error) {
	columns := columnsFor(keys)
	switch format {
	case "csv":
		c := &csvTidy{w: csv.NewWriter(w), line: make([]string, len(columns))}
		return c, c.w.Write(safetext.Cells(columns))
	case "json":
		_, err := io.WriteString(w, "[")
		return &jsonTidy{w: w, columns: columns, line: make([]string, len(columns))}, err
	case "parquet":
		return newParquetTidy(columns, keys, settings, w), nil
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

// Columns of the trials of searches. A trial that was trained further has a run for each of its lengths, and the longer one has the epochs of
// the shorter one, too: rows without continued_in have each epoch of a trial once.
const (
	trialNumber = "search.trial"
	continuedIn = "search.continued_in"
)

// ofSearches adds to the settings which trial of its search each run is, and which run goes on from it. It returns the columns, if any.
func ofSearches(runs []Selected, settings []map[string]any) (columns []string) {
	type place struct{ study, run string }
	further := map[place]string{}
	for i, r := range runs {
		if t := study.TrialOf(r.Payload); t.Role == study.RoleTrial {
			columns = []string{trialNumber, continuedIn}
			settings[i][trialNumber] = float64(t.Number + 1)
			if r.Status == store.Done { // until then the shorter run alone has all its epochs for certain
				further[place{r.Study, t.From}] = r.Hash
			}
		}
	}
	for i, r := range runs {
		if next := further[place{r.Study, r.Hash}]; next != "" {
			settings[i][continuedIn] = next
		}
	}
	return columns
}

// fillRun spreads a run's texts and settings over the columns.
func fillRun(line []string, texts []string, settings []any) {
	copy(line, texts)
	for i, x := range settings {
		line[len(tidyColumns)+i] = study.SettingText(x)
	}
}

// fillValue spreads a value over the columns between, except step and value.
func fillValue(line []string, v store.Value) {
	line[seriesColumn], line[splitColumn], line[layerColumn], line[measureColumn], line[missingColumn] = v.Series, v.Split, v.Layer, v.Measure, v.Missing
}

// Places of columns in tidyColumns.
const (
	seriesColumn = 5 + iota
	stepColumn
	splitColumn
	layerColumn
	measureColumn
	valueColumn
	missingColumn
)

type csvTidy struct {
	w    *csv.Writer
	line []string
}

func (c *csvTidy) begin(texts []string, settings []any) {
	fillRun(c.line, texts, settings)
	copy(c.line, safetext.Cells(c.line))
}

func (c *csvTidy) write(v store.Value) error {
	fillValue(c.line, v)
	for i := seriesColumn; i < len(tidyColumns); i++ {
		c.line[i] = safetext.Cell(c.line[i])
	}
	c.line[stepColumn], c.line[valueColumn] = strconv.FormatInt(v.Step, 10), ""
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
	w        io.Writer
	columns  []string
	line     []string
	settings []any
	more     bool
}

func (j *jsonTidy) begin(texts []string, settings []any) {
	j.settings = settings
	fillRun(j.line, texts, settings)
}

func (j *jsonTidy) write(v store.Value) error {
	line := j.line
	fillValue(line, v)
	object := make(map[string]any, len(line))
	for i, c := range j.columns {
		object[c] = line[i]
	}
	for i, x := range j.settings {
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
