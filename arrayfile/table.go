package arrayfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Tables of text: values separated by commas, tabs, semicolons, bars or spaces, a row a line. A first line without a number has the names of the
// columns. A column is a vector, of numbers or of words, or a matrix where each field holds a list of numbers. A table of numbers without names is one matrix, as numpy.savetxt writes it.

// tableSample is how much of a file tells whether it is text.
const tableSample = 1 << 16

// isText reports whether b starts like text.
func isText(b []byte) bool {
	sample := b[:min(len(b), tableSample)]
	for i := range 4 { // a character may be cut
		if utf8.Valid(sample[:len(sample)-min(i, len(sample))]) {
			sample = sample[:len(sample)-min(i, len(sample))]
			break
		}
		if i == 3 {
			return false
		}
	}
	return len(b) > 0 && bytes.IndexFunc(sample, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f }) < 0
}

// textTable is a table that was looked through once.
type textTable struct {
	b     []byte
	comma rune // ' ': any white space
	named bool // the first record holds names
	first []string
	rows  int // without names
	kinds []columnKind
}

// parseTable lists the columns of a table of text.
func parseTable(b []byte, account *account) ([]entry, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	scratch := 3 * int64(len(b)) // a record may be all of it
	if err := account.take(scratch); err != nil {
		return nil, fmt.Errorf("arrayfile: table of text: %w", err)
	}
	defer account.give(scratch)
	t := &textTable{b: b, comma: separator(b)}
	if t.comma == ' ' && isSparse(b) {
		return nil, errSparse
	}
	if err := t.look(); err != nil {
		return nil, fmt.Errorf("arrayfile: table of text: %w", err)
	}
	if t.rows == 0 {
		return nil, errNoTable
	}
	entries, err := t.entries(account)
	if err != nil {
		return nil, fmt.Errorf("arrayfile: table of text: %w", err)
	}
	return entries, nil
}

var (
	errNoTable = errors.New("no table")
	errSparse  = errors.New("arrayfile: text of index:value pairs (LIBSVM, svmlight) is not read; in Python: H, y = sklearn.datasets.load_svmlight_file(\"FILE\"); numpy.savez(\"x.npz\", features=H.toarray(), labels=y)")
)

// isSparse reports whether the first line is a number and pairs of numbers with colons.
func isSparse(b []byte) bool {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	fields := strings.Fields(string(line[:min(len(line), tableSample)]))
	for i, f := range fields {
		index, value, pair := strings.Cut(f, ":")
		_, err := strconv.ParseFloat(index, 64)
		if _, bad := strconv.ParseFloat(value, 64); err != nil || pair != (i > 0) || pair && bad != nil && i < len(fields)-1 {
			return false
		}
	}
	return len(fields) > 1
}

// separator returns what separates the fields of the first line.
func separator(b []byte) rune {
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			b = rest
			continue
		}
		for _, r := range "\t|;," {
			if bytes.ContainsRune(line, r) {
				return r
			}
		}
		if bytes.ContainsRune(line, ' ') && !bytes.ContainsRune(line, '"') {
			return ' '
		}
		return ','
	}
	return ','
}

// each visits the records. Lines that begin with # are comments.
func (t *textTable) each(visit func(row int, fields []string) error) error {
	if t.comma == ' ' {
		return t.eachOfSpaces(visit)
	}
	r := csv.NewReader(bytes.NewReader(t.b))
	r.Comma, r.Comment, r.ReuseRecord, r.TrimLeadingSpace = t.comma, '#', true, t.comma != '\t'
	for row := 0; ; row++ {
		fields, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(row, fields); err != nil {
			return err
		}
	}
}

func (t *textTable) eachOfSpaces(visit func(row int, fields []string) error) error {
	row, line, width := 0, 0, 0
	for rest := t.b; len(rest) > 0; {
		var text []byte
		text, rest, _ = bytes.Cut(rest, []byte("\n"))
		line++
		fields := strings.Fields(string(text))
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		if row == 0 {
			width = len(fields)
		}
		if len(fields) != width {
			return fmt.Errorf("line %d has %d values, and the first has %d", line, len(fields), width)
		}
		if err := visit(row, fields); err != nil {
			return err
		}
		row++
	}
	return nil
}

// look finds how many rows there are, what the columns hold, and whether the first record holds names.
func (t *textTable) look() error {
	numbers, again := false, false
	err := t.each(func(row int, fields []string) error {
		if row == 0 {
			for _, f := range fields {
				t.first = append(t.first, strings.Clone(f))
			}
			t.kinds = make([]columnKind, len(fields))
			for i := range t.kinds {
				t.kinds[i].whole, t.kinds[i].list = true, -1
			}
			return nil
		}
		t.rows = row
		again = again || len(fields) == 1 && fields[0] == t.first[0]
		for i, f := range fields {
			t.kinds[i].see(f, row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range t.first {
		_, err := strconv.ParseFloat(f, 64)
		n, _ := listOf(f, nil)
		numbers = numbers || err == nil || n > 0
	}
	lone := len(t.first) == 1 && t.rows > 0 && t.kinds[0].text // words: is the first of them a name?
	if t.named = !numbers && !(lone && again) || t.counted(); t.named {
		return nil
	}
	t.rows++
	for i, f := range t.first {
		t.kinds[i].see(f, 0)
	}
	return nil
}

// counted reports whether the first record numbers columns, as pandas names those of an array: 0, 1, 2, … or 1, 2, 3, … beside other names.
// Two numbers may be values, unless those below are no whole numbers.
func (t *textTable) counted() bool {
	n, next, fractions := 0, 0, false
	for i, f := range t.first {
		v, err := strconv.Atoi(f)
		switch _, bad := strconv.ParseFloat(f, 64); {
		case err != nil && bad == nil:
			return false
		case err != nil:
			continue
		case n == 0 && v == 1:
			next = 1
		}
		if v != next {
			return false
		}
		n, next, fractions = n+1, next+1, fractions || !t.kinds[i].whole && !t.kinds[i].text
	}
	return n > 2 || n > 0 && fractions
}

// entries reads all values: as slices that grow, and again in a matrix. Each takes at least a byte of the file.
func (t *textTable) entries(account *account) ([]entry, error) {
	width := len(t.first)
	matrix, whole, numbers := !t.named, true, int64(0)
	for _, k := range t.kinds {
		matrix, whole, numbers = matrix && !k.text && k.list <= 0 && k.empty == 0, whole && k.whole, numbers+int64(t.rows)*int64(max(1, k.list))
	}
	if err := account.take(24*numbers + entryMemory*int64(width)); err != nil {
		return nil, err
	}
	columns := make([]tableColumn, width)
	for i := range columns {
		columns[i] = tableColumn{columnKind: t.kinds[i]}
	}
	err := t.each(func(row int, fields []string) error {
		if t.named && row == 0 {
			return nil
		}
		for i, f := range fields {
			if err := columns[i].add(f, account); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if matrix {
		return t.matrix(columns, whole), nil
	}
	var entries []entry
	seen := map[string]bool{}
	for i, c := range columns {
		e := c.entry(t.name(i))
		if seen[e.Name] {
			return nil, fmt.Errorf("two columns are called %.80q", e.Name)
		}
		seen[e.Name] = true
		entries = append(entries, e)
	}
	return entries, nil
}

// name is what pandas would call a column.
func (t *textTable) name(i int) string {
	switch {
	case !t.named:
		return strconv.Itoa(i)
	case t.first[i] == "":
		return "Unnamed: " + strconv.Itoa(i)
	}
	return t.first[i]
}

// matrix returns the table as one array, stored by columns.
func (t *textTable) matrix(columns []tableColumn, whole bool) []entry {
	shape := []int{t.rows, len(columns)}
	if len(columns) == 1 {
		shape = shape[:1]
	}
	var ints []int64
	var floats []float64
	for _, c := range columns {
		if whole {
			ints = append(ints, c.ints...)
			continue
		}
		floats = append(floats, c.floats...)
		for _, n := range c.ints {
			floats = append(floats, float64(n))
		}
	}
	var a Array
	if whole {
		a = Of("", shape, ints)
	} else {
		a = Of("", shape, floats)
	}
	a.Fortran = len(columns) > 1
	return loaded(a)
}
