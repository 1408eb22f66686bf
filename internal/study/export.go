package study

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/pelletier/go-toml/v2"

	"collapse/internal/safetext"
	"collapse/internal/store"
	"collapse/train"
)

// tidyColumns begin every exported table; the settings that differ between the runs follow.
var tidyColumns = []string{"study", "run", "kind", "status", "note", "series", "step", "split", "layer", "measure", "value", "missing"}

// tidyWriter takes one line of a table at a time.
type tidyWriter interface {
	// write gets a run's texts, by column, and one of its values.
	write(texts []string, v store.Value) error
	close() error
}

// Export writes runs as one tidy table in the given format (csv, json, parquet): a line for each run,
// epoch and measure, with the settings that differ between the runs as columns of text. It returns the
// number of lines. Memory holds one run at a time.
func Export(lab *store.Reader, runs []Selected, format string, w io.Writer) (lines int, err error) {
	settings, keys, err := differing(lab, runs)
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
		texts := append([]string{r.Study, r.Hash, string(r.Kind), string(r.Status), r.Note}, make([]string, len(keys))...)
		for k, key := range keys {
			texts[5+k] = settings[i][key]
		}
		for _, v := range values {
			if err := to.write(texts, v); err != nil {
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

// differing returns each run's settings and the keys whose values are not the same in all of them.
func differing(lab *store.Reader, runs []Selected) ([]map[string]string, []string, error) {
	all, values := make([]map[string]string, len(runs)), map[string]map[string]bool{}
	for i, r := range runs {
		run, err := lab.Run(r.Hash)
		if err != nil {
			return nil, nil, err
		}
		tree := map[string]any{}
		if err := json.Unmarshal(run.Config, &tree); err != nil {
			return nil, nil, fmt.Errorf("study: configuration of run %.12s: %w", r.Hash, err)
		}
		all[i] = map[string]string{}
		flatten("", tree, all[i])
		for k := range all[i] {
			if values[k] == nil {
				values[k] = map[string]bool{}
			}
		}
	}
	defaults, err := trainDefaults()
	if err != nil {
		return nil, nil, err
	}
	for k, set := range values {
		for i, s := range all {
			if _, ok := s[k]; !ok && runs[i].Kind == store.Train { // an identity leaves defaults out
				s[k] = defaults[k]
			}
			set[s[k]] = true
		}
	}
	maps.DeleteFunc(values, func(_ string, set map[string]bool) bool { return len(set) < 2 })
	return all, slices.Sorted(maps.Keys(values)), nil
}

// trainDefaults are the settings that a training run's identity leaves out.
func trainDefaults() (map[string]string, error) {
	tree := map[string]any{}
	if err := toml.Unmarshal([]byte(train.PrintConfig(train.Default().Resolved())), &tree); err != nil {
		return nil, fmt.Errorf("study: the default configuration: %w", err)
	}
	out := map[string]string{}
	flatten("", tree, out)
	return out, nil
}

// flatten writes nested objects under dotted keys.
func flatten(prefix string, tree map[string]any, out map[string]string) {
	for k, v := range tree {
		switch x := v.(type) {
		case map[string]any:
			flatten(prefix+k+".", x, out)
		case float64:
			out[prefix+k] = strconv.FormatFloat(x, 'g', -1, 64)
		default:
			out[prefix+k] = fmt.Sprint(x)
		}
	}
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

// fill spreads a run's texts and a value over the columns, all but step and value.
func fill(line []string, texts []string, v store.Value) {
	copy(line, texts[:5])
	copy(line[5:], []string{v.Series, strconv.FormatInt(v.Step, 10), v.Split, v.Layer, v.Measure, "", v.Missing})
	copy(line[len(tidyColumns):], texts[5:])
}

const (
	stepColumn  = 6
	valueColumn = 10
)

type csvTidy struct {
	w    *csv.Writer
	line []string
}

func (c *csvTidy) write(texts []string, v store.Value) error {
	fill(c.line, texts, v)
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

func (j *jsonTidy) write(texts []string, v store.Value) error {
	line := make([]string, len(j.columns))
	fill(line, texts, v)
	object := make(map[string]any, len(line))
	for i, c := range j.columns {
		object[c] = line[i]
	}
	object["step"], object["value"] = v.Step, any(nil)
	if v.Missing == "" {
		object["value"] = v.Value
	}
	b, err := json.Marshal(object)
	if err != nil { // an infinite value, which JSON has no word for
		object["value"] = strconv.FormatFloat(v.Value, 'g', -1, 64)
		if b, err = json.Marshal(object); err != nil {
			return err
		}
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

// parquetTidy writes texts as dictionaries, which makes repeated ones almost free.
type parquetTidy struct {
	w     *parquet.GenericWriter[any]
	place []int // of each column in the file, where they are sorted
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

func (p *parquetTidy) write(texts []string, v store.Value) error {
	fill(p.line, texts, v)
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
