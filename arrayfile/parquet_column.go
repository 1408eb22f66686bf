package arrayfile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// columnReader reads one whole column.
type columnReader struct {
	p     *parquetFile
	c     *parquet.Column
	dtype DType
	rows  int
	width int // values of each row
	codes map[string]int64
	bools []byte // what the guard found; nil in columns of other types
}

// words returns the distinct texts of a column in alphabetical order.
func (r *columnReader) words() (words []string, err error) {
	defer recovered(&err)
	seen := map[string]bool{}
	var over error
	err = r.each(func(v parquet.Value) {
		if over != nil || seen[string(v.ByteArray())] {
			return
		}
		if over = r.p.account.take(int64(len(v.ByteArray())) + wordMemory); over == nil {
			seen[string(v.ByteArray())] = true
		}
	})
	if err = cmp.Or(over, err); err != nil {
		return nil, err
	}
	words = make([]string, 0, len(seen))
	for w := range seen {
		words = append(words, w)
	}
	slices.Sort(words)
	r.codes = make(map[string]int64, len(words))
	for i, w := range words {
		r.codes[w] = int64(i)
	}
	return words, nil
}

// load returns the elements, little endian.
func (r *columnReader) load() (out []byte, err error) {
	defer recovered(&err)
	size := r.rows * r.width * r.dtype.Size()
	if err := r.p.account.take(int64(size)); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	err = r.each(func(v parquet.Value) {
		if out == nil { // the pages hold what they claim
			out = make([]byte, 0, size)
		}
		switch r.dtype {
		case Bool: // from the guard
		case F32:
			out = le.AppendUint32(out, math.Float32bits(v.Float()))
		case F64:
			out = le.AppendUint64(out, math.Float64bits(v.Double()))
		case F16:
			out = append(out, v.ByteArray()...)
		case I32, U32:
			out = le.AppendUint32(out, uint32(v.Int32()))
		default:
			n := uint64(0)
			if r.codes != nil {
				n = uint64(r.codes[string(v.ByteArray())])
			} else {
				n = uint64(v.Int64())
			}
			out = le.AppendUint64(out, n)
		}
	})
	if r.dtype == Bool {
		out = r.bools
	}
	if err == nil && len(out) != size {
		err = fmt.Errorf("%d bytes of values, and its shape makes %d: the file is damaged", len(out), size)
	}
	return out, err
}

// each visits all values in order. A null, or a list of another length, is an error that names the row.
func (r *columnReader) each(visit func(parquet.Value)) error {
	r.p.source.blanks = nil
	guard := &pageGuard{boolean: r.c.Type().Kind() == parquet.Boolean, intBits: 32, file: r.p.b, source: r.p.source, limit: r.p.limit, account: r.p.account, rep: r.c.MaxRepetitionLevel(), def: r.c.MaxDefinitionLevel()}
	if r.c.Type().Kind() == parquet.Int64 {
		guard.intBits = 64
	}
	defer func() { guard.done(); r.bools = guard.bools }()
	groups := r.p.file.RowGroups()
	for i := range groups {
		if err := guard.column(&r.p.file.Metadata().RowGroups[i].Columns[r.c.Index()].MetaData); err != nil {
			return err
		}
	}
	slices.SortFunc(r.p.source.blanks, func(x, y blank) int { return cmp.Compare(x.at, y.at) })
	row, column := -1, r.width // before the first value
	for _, group := range groups {
		pages := group.ColumnChunks()[r.c.Index()].Pages()
		err := eachValue(pages, func(v parquet.Value) error {
			if v.RepetitionLevel() == 0 {
				if column != r.width {
					return fmt.Errorf("row %d has %d values, and others %d; want lists of one length", row, column, r.width)
				}
				if row, column = row+1, 0; row == r.rows {
					return fmt.Errorf("it holds more than the %d rows that the metadata claim", r.rows)
				}
			}
			if v.IsNull() {
				return fmt.Errorf("row %d is null or holds a null; drop such rows", row)
			}
			if column++; column > r.width {
				return fmt.Errorf("row %d has more than %d values; want lists of one length", row, r.width)
			}
			visit(v)
			return nil
		})
		if err = errors.Join(err, pages.Close()); err != nil {
			return err
		}
	}
	if row+1 != r.rows { // else the last row has as many values as the others, since their number is as claimed
		return fmt.Errorf("its pages hold %d rows, and the metadata claim %d: the file is damaged", row+1, r.rows)
	}
	return nil
}

func eachValue(pages parquet.Pages, visit func(parquet.Value) error) error {
	buf := make([]parquet.Value, 8192)
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		values := page.Values()
		for err == nil {
			var n int
			n, err = values.ReadValues(buf)
			for _, v := range buf[:n] {
				if e := visit(v); e != nil {
					parquet.Release(page)
					return e
				}
			}
		}
		parquet.Release(page)
		if err != io.EOF {
			return err
		}
	}
}
