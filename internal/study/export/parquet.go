package export

import (
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"

	"collapse.example/collapse/internal/store"
)

// parquetTidy writes texts with dictionaries, which makes repeated ones almost free.
type parquetTidy struct {
	w        *parquet.GenericWriter[any]
	place    []int // of each column in the file, which sorts them
	line     []string
	settings []any
	kinds    []parquet.Kind // of the settings
}

func newParquetTidy(columns, keys []string, settings []map[string]any, w io.Writer) *parquetTidy {
	p := &parquetTidy{line: make([]string, len(columns))}
	group := parquet.Group{}
	for i, c := range columns {
		group[c] = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		if i < len(tidyColumns) {
			continue
		}
		kind := settingKind(settings, keys[i-len(tidyColumns)])
		if kind != parquet.ByteArray {
			group[c] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
		}
		if kind == parquet.Int64 {
			group[c] = parquet.Optional(parquet.Int(64))
		}
		p.kinds = append(p.kinds, kind)
	}
	group["step"] = parquet.Int(64)
	group["value"] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
	sorted := slices.Sorted(slices.Values(columns))
	p.w = parquet.NewGenericWriter[any](w, parquet.NewSchema("tidy", group), parquet.Compression(&parquet.Zstd))
	for _, c := range columns {
		p.place = append(p.place, slices.Index(sorted, c))
	}
	return p
}

// settingKind is what a setting's column holds: whole numbers, numbers, or texts.
func settingKind(settings []map[string]any, key string) parquet.Kind {
	kind := parquet.Int64
	for _, own := range settings {
		switch x := own[key].(type) {
		case nil:
		case float64:
			if x != math.Trunc(x) || math.Abs(x) > 1<<53 {
				kind = parquet.Double
			}
		default:
			return parquet.ByteArray
		}
	}
	return kind
}

func (p *parquetTidy) begin(texts []string, settings []any) {
	p.settings = settings
	fillRun(p.line, texts, settings)
}

func (p *parquetTidy) write(v store.Value) error {
	fillValue(p.line, v)
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
		case i >= len(tidyColumns) && p.kinds[i-len(tidyColumns)] != parquet.ByteArray:
			value = p.number(i)
		}
		row[p.place[i]] = value
	}
	_, err := p.w.WriteRows([]parquet.Row{row})
	return err
}

// number is the setting of a column of numbers; a run may lack it.
func (p *parquetTidy) number(column int) parquet.Value {
	x, has := p.settings[column-len(tidyColumns)].(float64)
	switch {
	case !has:
		return parquet.NullValue().Level(0, 0, p.place[column])
	case p.kinds[column-len(tidyColumns)] == parquet.Int64:
		return parquet.Int64Value(int64(x)).Level(0, 1, p.place[column])
	}
	return parquet.DoubleValue(x).Level(0, 1, p.place[column])
}

func (p *parquetTidy) close() error { return p.w.Close() }
