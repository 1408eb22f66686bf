package arrayfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Arrow's IPC format (Apache Arrow, "Columnar format", version 1.5): messages one after the other, a schema and then batches of rows, each
// with a body of buffers. Hugging Face datasets are such streams. Feather files and those of Polars' write_ipc have magic letters around the
// messages, and a list of them at the end.

const (
	arrowMagic = "ARROW1\x00\x00"
	arrowMore  = 0xffffffff // begins every message
)

// Memory of a batch, and of the place of a column in it.
const (
	batchMemory = 256
	placeMemory = 48 // with the room that a list grows into
)

func isArrow(b []byte) bool {
	return bytes.HasPrefix(b, []byte(arrowMagic)) || len(b) > 8 && binary.LittleEndian.Uint32(b) == arrowMore && int64(binary.LittleEndian.Uint32(b[4:])) < int64(len(b))
}

// arrowFile is the messages of a file.
type arrowFile struct {
	fields       []*arrowField
	batches      []arrowBatch
	dictionaries map[int64][]arrowBatch
	account      *account
	limit        int64 // bytes that a buffer may unpack to, as of a column of Parquet
	unpacker     unpacker
}

// arrowBatch is rows of all columns.
type arrowBatch struct {
	rows     int
	nodes    []byte // length and number of nulls of each column and part
	buffers  []byte // place and length of each buffer
	variadic []byte // number of buffers of each column of views
	codec    int64  // −1: none
	body     []byte
	places   []place // of the columns, once they are asked for
}

// parseArrow lists the columns as those of a Parquet file are.
func parseArrow(b []byte, account *account) (entries []entry, err error) {
	defer func() {
		if r := recover(); r != nil {
			entries, err = nil, fmt.Errorf("arrayfile: arrow: the file is damaged: %v", r)
		}
	}()
	a := &arrowFile{dictionaries: map[int64][]arrowBatch{}, account: account, limit: max(freeParquet, ratioParquet*int64(len(b)))}
	read := a.messages
	if bytes.HasPrefix(b, []byte(arrowMagic)) {
		read = a.listed
	}
	if err := read(b); err != nil {
		return nil, fmt.Errorf("arrayfile: arrow: %w", err)
	}
	seen := map[string]bool{}
	for i, f := range a.fields {
		if seen[f.name] {
			return nil, fmt.Errorf("arrayfile: arrow: two columns are called %.80q", f.name)
		}
		seen[f.name] = true
		if err := account.take(entryMemory); err != nil {
			return nil, fmt.Errorf("arrayfile: arrow: %d columns: %w", len(a.fields), err)
		}
		entries = append(entries, a.entry(i))
	}
	return entries, nil
}

// messages reads a stream, up to its end or the mark of it.
func (a *arrowFile) messages(b []byte) error {
	for at := 0; len(b)-at >= 8; {
		if binary.LittleEndian.Uint32(b[at:]) != arrowMore {
			return errors.New("a message does not begin as one; streams of Arrow before 0.15 are not read")
		}
		if binary.LittleEndian.Uint32(b[at+4:]) == 0 {
			break
		}
		end, err := a.messageAt(b, at)
		if err != nil {
			return err
		}
		at = end
	}
	if a.fields == nil {
		return errors.New("there is no schema")
	}
	return nil
}

// messageAt reads the message at a place, and returns where its body ends.
func (a *arrowFile) messageAt(b []byte, at int) (end int, err error) {
	if binary.LittleEndian.Uint32(b[at:]) == arrowMore { // older files have none
		at += 4
	}
	size := int64(binary.LittleEndian.Uint32(b[at:]))
	if b = b[at+4:]; size > int64(len(b)) || size < 8 {
		return 0, fmt.Errorf("a message of %d bytes, and %d are left", size, len(b))
	}
	m := flat{b[:size:size], int(binary.LittleEndian.Uint32(b))}
	body := m.number(3, 8)
	if body < 0 || body > int64(len(b))-size {
		return 0, fmt.Errorf("a body of %d bytes, and %d are left: the file is cut short", body, int64(len(b))-size)
	}
	return at + 4 + int(size+body), a.message(m, b[size:][:body:body])
}

// listed reads the messages that the list at the end of a file names.
func (a *arrowFile) listed(b []byte) error {
	n := len(b) - len("ARROW1") - 4
	if n < len(arrowMagic) || string(b[n+4:]) != "ARROW1" {
		return errors.New("the end of the file is missing: it is cut short")
	}
	size := int64(binary.LittleEndian.Uint32(b[n:]))
	if size > int64(n-len(arrowMagic)) || size < 8 {
		return fmt.Errorf("a list of %d bytes in a file of %d", size, len(b))
	}
	list := b[n-int(size) : n]
	footer := flat{list, int(binary.LittleEndian.Uint32(list))}
	schema, ok := footer.table(1)
	if !ok {
		return errors.New("there is no schema")
	}
	if err := a.schema(schema); err != nil {
		return err
	}
	for _, blocks := range [][]byte{footer.vector(2, 24), footer.vector(3, 24)} {
		if err := a.blocks(b, blocks, n); err != nil {
			return err
		}
	}
	return nil
}

// blocks reads the messages of a list, which lie before a place: the same bytes once more would make a small file large.
func (a *arrowFile) blocks(b, list []byte, before int) (err error) {
	for end := 0; len(list) > 0; list = list[24:] {
		at := binary.LittleEndian.Uint64(list)
		if at > uint64(before) || at < uint64(end) {
			return errors.New("a message lies outside the file or within another one")
		}
		if end, err = a.messageAt(b, int(at)); err != nil {
			return err
		}
	}
	return nil
}

// schema reads the columns.
func (a *arrowFile) schema(t flat) (err error) {
	if t.number(0, 2) != 0 {
		return errors.New("numbers of a big-endian machine are not read")
	}
	if err := a.account.take(footerMemory * int64(len(t.b))); err != nil {
		return err
	}
	a.fields, err = (&schemaReader{left: len(t.b)}).fields(t, 1, 0)
	if a.fields == nil {
		a.fields = []*arrowField{}
	}
	return err
}

func (a *arrowFile) message(m flat, body []byte) (err error) {
	header, ok := m.table(2)
	switch kind := m.number(1, 1); {
	case !ok:
		return errors.New("a message without content")
	case kind == 1 && a.fields == nil:
		return a.schema(header)
	case kind == 2:
		data, ok := header.table(1)
		if !ok {
			return errors.New("a dictionary without values")
		}
		id := header.number(0, 8)
		batch, err := newArrowBatch(m, data, body)
		if err != nil {
			return err
		}
		if header.number(2, 1) == 0 { // no addition to the one before
			if len(a.dictionaries[id]) > 0 && len(a.batches) > 0 {
				return errors.New("a dictionary that changes between batches is not read")
			}
			a.dictionaries[id] = nil
		}
		a.dictionaries[id] = append(a.dictionaries[id], batch)
	case kind == 3:
		batch, err := newArrowBatch(m, header, body)
		if err == nil && len(batch.nodes)/16 < len(a.fields) {
			err = fmt.Errorf("a batch of %d columns, and the schema has %d", len(batch.nodes)/16, len(a.fields))
		}
		if err == nil {
			err = a.account.take(batchMemory + placeMemory*int64(len(a.fields)))
		}
		if err != nil {
			return err
		}
		a.batches = append(a.batches, batch)
	}
	return err
}

// newArrowBatch reads a batch. Arrow 0.17 named the compression beside the message, in words; without them packed buffers would be read as numbers.
func newArrowBatch(m, t flat, body []byte) (arrowBatch, error) {
	rows := t.number(0, 8)
	if rows < 0 || rows > math.MaxInt32*int64(64) {
		return arrowBatch{}, fmt.Errorf("a batch of %d rows", rows)
	}
	out := arrowBatch{rows: int(rows), nodes: t.vector(1, 16), buffers: t.vector(2, 16), variadic: t.vector(4, 8), codec: -1, body: body}
	if c, ok := t.table(3); ok {
		out.codec = c.number(0, 1)
	}
	m.tables(4, func(note flat) {
		if string(note.vector(0, 1)) == "ARROW:experimental_compression" {
			codec, known := map[string]int64{"lz4": 0, "zstd": 1}[strings.ToLower(string(note.vector(1, 1)))]
			if out.codec = codec; !known {
				out.codec = math.MaxInt64
			}
		}
	})
	return out, nil
}

// place is where the parts of a column are in a batch.
type place struct{ node, buffer, variadic int }

// after returns where the column after f is.
func (f *arrowField) after(p place, batch *arrowBatch) place {
	p.node++
	if f.dictionary {
		p.buffer += 2
		return p
	}
	switch f.kind {
	case arrowNull, arrowRunEnd:
	case arrowFixedList, arrowStruct:
		p.buffer++
	case arrowUnion:
		p.buffer++
		if f.dense {
			p.buffer++
		}
	case arrowBinary, arrowUtf8, arrowLargeBinary, arrowLargeUtf8, arrowListView, arrowLargeListView:
		p.buffer += 3
	case arrowBinaryView, arrowUtf8View:
		p.buffer += 2 + int(min(binary.LittleEndian.Uint64(batch.variadic[8*p.variadic:]), uint64(len(batch.buffers))))
		p.variadic++
	default: // numbers and lists
		p.buffer += 2
	}
	for _, c := range f.children {
		p = c.after(p, batch)
	}
	return p
}

// at returns where a column is.
func (a *arrowFile) at(column int, batch *arrowBatch) place {
	if batch.places == nil {
		p := place{}
		for _, f := range a.fields {
			batch.places = append(batch.places, p)
			p = f.after(p, batch)
		}
	}
	return batch.places[column]
}

// node returns the length of a column or part, and how many nulls it has.
func (batch *arrowBatch) node(i int) (length, nulls int64) {
	return int64(binary.LittleEndian.Uint64(batch.nodes[16*i:])), int64(binary.LittleEndian.Uint64(batch.nodes[16*i+8:]))
}

// buffer returns a buffer, unpacked; what that takes is taken from the account and returned.
func (a *arrowFile) buffer(batch *arrowBatch, i int) (out []byte, taken int64, err error) {
	at, size := binary.LittleEndian.Uint64(batch.buffers[16*i:]), binary.LittleEndian.Uint64(batch.buffers[16*i+8:])
	if at > uint64(len(batch.body)) || size > uint64(len(batch.body))-at {
		return nil, 0, errors.New("a buffer lies outside its batch")
	}
	b := batch.body[at:][:size:size]
	if batch.codec < 0 || len(b) == 0 {
		return b, 0, nil
	}
	unpacked := int64(binary.LittleEndian.Uint64(b))
	if b = b[8:]; unpacked == -1 {
		return b, 0, nil
	}
	if unpacked < 0 || unpacked > a.limit {
		return nil, 0, fmt.Errorf("a buffer unpacks to %d bytes, more than %d times the file; if that is intended, write it again less compressed", unpacked, ratioParquet)
	}
	if err := a.account.take(unpacked); err != nil {
		return nil, 0, err
	}
	switch batch.codec {
	case 0:
		out, err = ofLZ4Frame(b, int(unpacked))
	case 1:
		out, err = a.unpacker.ofZstd(b, int(unpacked))
	default:
		err = fmt.Errorf("compression %d is not read", batch.codec)
	}
	if err == nil && int64(len(out)) != unpacked {
		err = fmt.Errorf("a buffer unpacks to %d bytes instead of %d", len(out), unpacked)
	}
	return out, unpacked, err
}
