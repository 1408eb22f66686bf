package arrayfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// JSON, as one document or with a document a line: records {"features": […], "label": …} below each other, one object whose values are whole
// arrays, or lists of numbers. Values of one name have one shape in all records; objects in objects have names with dots.

// isJSON reports whether b starts like an object or a list.
func isJSON(b []byte) bool {
	b = bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\ufeff")), " \t\r\n")
	return len(b) > 1 && (b[0] == '{' || b[0] == '[') && isText(b)
}

// jsonReader reads tokens into columns.
type jsonReader struct {
	d       *json.Decoder
	account *account
	values  int // that memory was taken for
	records int // that were read
	columns []*jsonColumn
	named   map[string]*jsonColumn
}

// parseJSON lists the columns of a file.
func parseJSON(b []byte, account *account) ([]entry, error) {
	r := &jsonReader{account: account, named: map[string]*jsonColumn{}}
	r.d = json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
	r.d.UseNumber()
	single, err := r.documents()
	if err != nil {
		return nil, fmt.Errorf("arrayfile: JSON: byte %d: %w", r.d.InputOffset(), cut(err))
	}
	var entries []entry
	for _, c := range r.columns {
		if e := c.entry(r.records, single); e.err != nil || len(e.Shape) > 0 {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// documents reads all there is, and reports whether it is a single record and no list of one.
func (r *jsonReader) documents() (single bool, err error) {
	for listed := false; ; {
		t, err := r.d.Token()
		if err == io.EOF && r.records > 0 {
			return r.records == 1 && !listed, nil
		}
		if err != nil {
			return false, err
		}
		if t == json.Delim('[') && r.records == 0 {
			if t, err = r.d.Token(); t == json.Delim('{') { // a list of records is like a record a line
				listed, err = true, r.list()
			} else if err == nil {
				err = r.opened(t)
			}
		} else {
			err = r.record(t)
		}
		if err != nil {
			return false, err
		}
	}
}

// list reads records up to the end of their list; the first has begun.
func (r *jsonReader) list() error {
	for t := json.Token(json.Delim('{')); t != json.Delim(']'); {
		err := r.record(t)
		if err == nil {
			t, err = r.d.Token()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// record reads a document, or an item of a list of them.
func (r *jsonReader) record(t json.Token) error {
	var err error
	if t == json.Delim('{') {
		err = r.object("", 0)
	} else {
		err = r.whole("", t)
	}
	r.records++
	return err
}

// opened reads a list of anything but records, of which the first token is read.
func (r *jsonReader) opened(t json.Token) error {
	c, err := r.column("")
	if err == nil {
		c.rows++
		err = r.items(c, t, 0)
	}
	r.records++
	return err
}

// object reads the values of an object.
func (r *jsonReader) object(prefix string, depth int) error {
	if depth > mostDepth {
		return fmt.Errorf("objects nested more than %d deep", mostDepth)
	}
	for first := true; r.d.More(); first = false {
		key, err := r.d.Token()
		if err != nil {
			return err
		}
		t, err := r.d.Token()
		if err != nil {
			return err
		}
		name := key.(string)
		if first && name == "0" && prefix != "" && t != json.Delim('{') {
			return r.numbered(prefix, t) // as pandas writes a column
		}
		if prefix != "" {
			name = prefix + "." + name
		}
		if len(name) > maxName {
			return fmt.Errorf("the name %.40q… has %d bytes; at most %d are read", name, len(name), maxName)
		}
		if t == json.Delim('{') {
			err = r.object(name, depth+1)
		} else {
			err = r.whole(name, t)
		}
		if err != nil {
			return err
		}
	}
	_, err := r.d.Token()
	return err
}

// numbered reads an object whose keys count from 0 as a list; the first value has begun.
func (r *jsonReader) numbered(name string, t json.Token) error {
	c, err := r.column(name)
	if err != nil {
		return err
	}
	c.begin(r.records)
	for i := 0; ; i++ {
		if err := r.value(c, t, 1); err != nil {
			return err
		}
		if !r.d.More() {
			c.side(0, i+1)
			_, err := r.d.Token()
			return err
		}
		key, err := r.d.Token()
		if err == nil && key != strconv.Itoa(i+1) {
			c.fail("its keys do not count from 0: after %d comes %.40q", i, key)
		}
		if err == nil {
			t, err = r.d.Token()
		}
		if err != nil {
			return err
		}
	}
}

// column returns the column of a name.
func (r *jsonReader) column(name string) (*jsonColumn, error) {
	if c, ok := r.named[name]; ok {
		return c, nil
	}
	c := &jsonColumn{name: name, words: wordNumbers{account: r.account}}
	r.named[name], r.columns = c, append(r.columns, c)
	return c, r.account.take(int64(len(name)) + entryMemory)
}

// whole reads a value of a record.
func (r *jsonReader) whole(name string, t json.Token) error {
	c, err := r.column(name)
	if err != nil {
		return err
	}
	c.begin(r.records)
	return r.value(c, t, 0)
}

// value reads a number, a word or a list, which lies in as many lists as depth says.
func (r *jsonReader) value(c *jsonColumn, t json.Token, depth int) error {
	switch t {
	case json.Delim('['):
		t, err := r.d.Token()
		if err != nil {
			return err
		}
		return r.items(c, t, depth)
	case json.Delim('{'):
		c.fail("it holds objects in lists")
		for open := 1; open > 0; {
			t, err := r.d.Token()
			if err != nil {
				return err
			}
			switch t {
			case json.Delim('['), json.Delim('{'):
				open++
			case json.Delim(']'), json.Delim('}'):
				open--
			}
		}
		return nil
	}
	if r.values%4096 == 0 { // numbers take 8 bytes, and as much again while slices grow
		if err := r.account.take(4096 * 24); err != nil {
			return err
		}
	}
	r.values++
	return c.add(t, depth)
}

// items reads a list from its first token on.
func (r *jsonReader) items(c *jsonColumn, t json.Token, depth int) error {
	if depth >= maxAxes {
		return fmt.Errorf("lists nested more than %d deep", maxAxes)
	}
	n := 0
	for ; t != json.Delim(']'); n++ {
		err := r.value(c, t, depth+1)
		if err == nil {
			t, err = r.d.Token()
		}
		if err != nil {
			return err
		}
	}
	c.side(depth, n)
	return nil
}
