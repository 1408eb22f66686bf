package arrayfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

const parquetMagic = "PAR1"

// maxFooter is the metadata that any Parquet file may have; larger files may have an eighth of their size. Decoded, metadata takes
// footerMemory times its bytes.
const (
	maxFooter    = 1 << 20
	footerMemory = 100
)

// A column may unpack to freeParquet bytes, since runs of equal labels take no space, or to ratioParquet times its file if that is
// more. Pages are unpacked one after the other: this bounds the work; the memory is taken from the budget.
const (
	freeParquet  = 64 << 20
	ratioParquet = 100
)

// parquetFile is an opened file of columns.
type parquetFile struct {
	b       []byte
	source  *parquetSource
	file    *parquet.File
	limit   int64 // bytes that a column may unpack to
	account *account
}

// parseParquet lists the columns of a Parquet file: a column of numbers is a vector, one of lists of equal length a matrix, one of
// text a vector with Categories. Names of nested columns are joined by dots.
func parseParquet(b []byte, account *account) (entries []entry, err error) {
	defer recovered(&err)
	if len(b) < 12 || string(b[len(b)-4:]) != parquetMagic {
		return nil, errors.New("arrayfile: parquet: the end of the file is missing: it is cut short or encrypted")
	}
	footer := int64(binary.LittleEndian.Uint32(b[len(b)-8:]))
	if footer > int64(len(b)-12) || footer > max(maxFooter, int64(len(b)/8)) {
		return nil, fmt.Errorf("arrayfile: parquet: %d bytes of metadata in a file of %d are impossible or too many", footer, len(b))
	}
	if err := account.take(footerMemory * footer); err != nil {
		return nil, fmt.Errorf("arrayfile: parquet: %d bytes of metadata: %w", footer, err)
	}
	source, err := newParquetSource(b, footer)
	if err == nil {
		err = checkFooter(footerOf(b, footer))
	}
	if err != nil {
		return nil, fmt.Errorf("arrayfile: parquet: %w", err)
	}
	file, err := parquet.OpenFile(source, source.size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("arrayfile: parquet: %w", err)
	}
	p := &parquetFile{b, source, file, max(freeParquet, ratioParquet*int64(len(b))), account}
	p.leaves(file.Root(), func(c *parquet.Column) { entries = append(entries, p.entry(c)) })
	seen := map[string]bool{}
	for _, e := range entries {
		if seen[e.Name] {
			return nil, fmt.Errorf("arrayfile: parquet: two columns are called %q", e.Name)
		}
		seen[e.Name] = true
	}
	return entries, nil
}

// recovered turns a panic of the Parquet library, which trusts its input, into an error.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("arrayfile: parquet: the file is damaged: %v", r)
	}
}

func (p *parquetFile) leaves(c *parquet.Column, visit func(*parquet.Column)) {
	if c.Leaf() {
		visit(c)
		return
	}
	for _, child := range c.Columns() {
		p.leaves(child, visit)
	}
}

// columnName omits the words that Parquet puts around the items of a list.
func columnName(c *parquet.Column) string {
	var words []string
	for i, w := range c.Path() {
		if i == 0 || !slices.Contains([]string{"list", "element", "item", "array", "bag", "array_element"}, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, ".")
}

// entry describes a column.
func (p *parquetFile) entry(c *parquet.Column) entry {
	e := entry{Header: Header{Name: columnName(c)}}
	dtype, text, err := p.dtype(c)
	if err != nil {
		e.err = err
		return e
	}
	rows, values := int64(0), int64(0)
	for _, g := range p.file.Metadata().RowGroups {
		if c.Index() >= len(g.Columns) || g.NumRows < 0 || g.Columns[c.Index()].MetaData.NumValues < 0 {
			e.err = errors.New("its metadata contradict each other")
			return e
		}
		rows, values = rows+g.NumRows, values+g.Columns[c.Index()].MetaData.NumValues
	}
	shape := []int{int(rows)}
	switch {
	case c.MaxRepetitionLevel() > 1:
		e.err = naturef("lists of lists are not read")
	case values > p.limit/int64(dtype.Size()):
		e.err = fmt.Errorf("it claims %d values, more than %d times the file", values, ratioParquet)
	case c.MaxRepetitionLevel() == 0 && values != rows:
		e.err = fmt.Errorf("%d values in %d rows", values, rows)
	case c.MaxRepetitionLevel() == 1 && (rows == 0 || values%rows != 0):
		e.err = naturef("its lists have different lengths (%d values in %d rows); want one width", values, rows)
	case c.MaxRepetitionLevel() == 1:
		shape = append(shape, int(values/rows))
	}
	if e.err != nil {
		return e
	}
	e.DType, e.Shape = dtype, shape
	r := &columnReader{p: p, c: c, dtype: dtype, rows: int(rows), width: 1}
	if len(shape) == 2 {
		r.width = shape[1]
	}
	if text {
		e.words = r.words
	}
	e.load = r.load
	return e
}

// dtype returns the element type of a column, and whether it is text.
func (p *parquetFile) dtype(c *parquet.Column) (t DType, text bool, err error) {
	logical := c.Type().LogicalType()
	if name := c.Type().String(); strings.HasPrefix(name, "DECIMAL") {
		return 0, false, naturef("columns of type %s are not read; convert to floating-point numbers", name)
	}
	integer := func(signed, unsigned DType) DType {
		if i := logical.Value; i != nil {
			if n, ok := i.(*format.IntType); ok && !n.IsSigned {
				return unsigned
			}
		}
		return signed
	}
	if logical == nil {
		logical = &format.LogicalType{}
	}
	switch c.Type().Kind() {
	case parquet.Boolean:
		return Bool, false, nil
	case parquet.Int32:
		return integer(I32, U32), false, nil
	case parquet.Int64:
		return integer(I64, U64), false, nil
	case parquet.Float:
		return F32, false, nil
	case parquet.Double:
		return F64, false, nil
	case parquet.ByteArray:
		return I64, true, nil
	case parquet.FixedLenByteArray:
		if p.half(c) {
			return F16, false, nil
		}
	}
	return 0, false, naturef("columns of type %s are not read; want numbers, or text for labels", c.Type())
}

// half reports whether a column of two bytes holds float16, which the library's types do not know: the schema says it.
func (p *parquetFile) half(c *parquet.Column) bool {
	leaf := -1
	for _, e := range p.file.Metadata().Schema {
		if !e.Type.Valid {
			continue
		}
		if leaf++; leaf == c.Index() {
			_, half := e.LogicalType.Value.(*format.Float16Type)
			return half && c.Type().Length() == 2
		}
	}
	return false
}
