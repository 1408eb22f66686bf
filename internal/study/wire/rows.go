// Package wire is what a coordinator and its workers elsewhere send each other about a run: beginnings and rows (rows.go),
// checkpoints with the state that the queue keeps (checkpoint.go), the files of a finished run (manifest.go, files.go), and
// progress. What comes from elsewhere is not trusted; checks.go bounds it.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"collapse.example/collapse/internal/store"
)

// What a worker elsewhere sends: a tag, then
//
//	'B' begin as JSON: where the attempt starts
//	'R' rows: epoch, keys, and for each row its key's number, step and value
//
// Numbers are varints, except for values, which take eight bytes; texts are preceded by their length.
const (
	TagBegin = 'B'
	TagRows  = 'R'
)

// Begin opens an attempt: the lab drops rows of epochs after From, which are void. Rows of epochs from Rows to From are sent again;
// those of earlier epochs are not on the worker's machine, and must be in the lab.
type Begin struct {
	From    int64         `json:"from"`
	Rows    int64         `json:"rows"`
	Program store.Program `json:"program"`
	Host    string        `json:"host"`
}

// Encode returns the message that opens an attempt.
func (b Begin) Encode() []byte {
	return append([]byte{TagBegin}, encoded(b)...)
}

// encoded is one of this package's messages as JSON, which holds all of them.
func encoded(message any) []byte {
	text, err := json.Marshal(message)
	if err != nil {
		panic("study: a message that JSON cannot hold")
	}
	return text
}

// rowsPerMessage keeps a message of rows, which take about 20 bytes each plus their keys, below the queue's limit.
const rowsPerMessage = 8000

// EncodeRows writes the rows of one epoch as messages.
func EncodeRows(e store.EpochRows) [][]byte {
	var messages [][]byte
	for rows := e.Rows; len(rows) > 0; {
		n := min(len(rows), rowsPerMessage)
		messages = append(messages, encodeSome(e.Epoch, rows[:n]))
		rows = rows[n:]
	}
	return messages
}

func encodeSome(epoch int64, rows []store.Value) []byte {
	numbers := map[store.Key]int{}
	var keys []store.Key
	for _, r := range rows {
		if _, ok := numbers[r.Key]; !ok {
			numbers[r.Key] = len(keys)
			keys = append(keys, r.Key)
		}
	}
	b := binary.AppendVarint([]byte{TagRows}, epoch)
	b = binary.AppendUvarint(b, uint64(len(keys)))
	for _, k := range keys {
		for _, text := range []string{k.Series, k.Split, k.Layer, k.Measure} {
			b = appendText(b, text)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(rows)))
	for _, r := range rows {
		b = binary.AppendUvarint(b, uint64(numbers[r.Key]))
		b = binary.AppendVarint(b, r.Step)
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(r.Value))
		b = appendText(b, r.Missing)
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

var errRows = errors.New("study: a message of rows that is cut short or damaged")

// rowReader reads what encodeSome wrote. After the first error, bad stays true.
type rowReader struct {
	b   []byte
	bad bool
}

func (r *rowReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	r.skip(n)
	return v
}

func (r *rowReader) varint() int64 {
	v, n := binary.Varint(r.b)
	r.skip(n)
	return v
}

// skip goes past a number of n bytes; none if there is no number, which is then 0.
func (r *rowReader) skip(n int) {
	if n <= 0 {
		r.bad, r.b = true, nil
		return
	}
	r.b = r.b[n:]
}

func (r *rowReader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *rowReader) text() string { return string(r.take(r.uvarint())) }

// count reads how many items of at least size bytes follow, so that a damaged count allocates nothing.
func (r *rowReader) count(size int) int {
	n := r.uvarint()
	if n > uint64(len(r.b)/size) {
		r.bad, r.b = true, nil
		return 0
	}
	return int(n)
}

// DecodeRows reads one message of rows, without its tag. Non-finite values become missing.
func DecodeRows(b []byte) (store.EpochRows, error) {
	r := &rowReader{b: b}
	e := store.EpochRows{Epoch: r.varint()}
	keys := make([]store.Key, r.count(4))
	for i := range keys {
		keys[i] = store.Key{Series: r.text(), Split: r.text(), Layer: r.text(), Measure: r.text()}
	}
	e.Rows = make([]store.Value, r.count(11))
	for i := range e.Rows {
		k := r.uvarint()
		if k >= uint64(len(keys)) {
			return store.EpochRows{}, errRows
		}
		v := store.Value{Key: keys[k], Step: r.varint()}
		if bits := r.take(8); bits != nil {
			v.Value = math.Float64frombits(binary.LittleEndian.Uint64(bits))
		}
		v.Missing = r.text()
		e.Rows[i] = v
	}
	if r.bad || len(r.b) != 0 {
		return store.EpochRows{}, errRows
	}
	if err := checkValues(keys, e.Rows); err != nil {
		return store.EpochRows{}, err
	}
	return e, nil
}

// DecodeBegin reads the message that opens an attempt, without its tag.
func DecodeBegin(b []byte) (Begin, error) {
	var v Begin
	if err := json.Unmarshal(b, &v); err != nil {
		return v, fmt.Errorf("study: the first message of an attempt: %w", err)
	}
	return cleanBegin(v), nil
}
