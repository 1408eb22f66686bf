// Package tensorboard writes event files that TensorBoard shows: scalars against steps. It knows the format and nothing of
// runs. A file is TensorFlow records (TFRecord), each a protocol buffer message tensorflow.Event
// (tensorflow/core/util/event.proto, summary.proto); only the fields that scalars need are written.
package tensorboard

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Scalar is one number. TensorBoard groups tags by what stands before the first slash.
type Scalar struct {
	Tag   string
	Value float64 // stored in float32, as TensorBoard keeps scalars
}

// Field numbers of the messages.
const (
	eventWallTime = 1 // double, seconds since 1970
	eventStep     = 2 // int64
	eventVersion  = 3 // string, of the first record
	eventSummary  = 5 // Summary
	summaryValue  = 1 // repeated Summary.Value
	valueTag      = 1 // string
	valueSimple   = 2 // float
)

// Writer writes one event file. It is not safe for concurrent use.
type Writer struct {
	w              io.Writer
	event, summary []byte
}

// FileName is the name of a run's one event file in its folder: TensorBoard reads every file whose name holds "tfevents".
func FileName(created time.Time) string {
	return fmt.Sprintf("events.out.tfevents.%010d.collapse", created.Unix())
}

// NewWriter begins an event file: its first record says which version of the format it is.
func NewWriter(w io.Writer, created time.Time) (*Writer, error) {
	t := &Writer{w: w}
	t.begin(created)
	t.event = protowire.AppendTag(t.event, eventVersion, protowire.BytesType)
	t.event = protowire.AppendString(t.event, "brain.Event:2")
	return t, t.record()
}

// Write adds the scalars of one step; none is not a record. Steps should not fall: TensorBoard takes a fall for a restart and
// drops what came before.
func (t *Writer) Write(wall time.Time, step int64, scalars []Scalar) error {
	if len(scalars) == 0 {
		return nil
	}
	t.summary = t.summary[:0]
	for _, s := range scalars {
		size := protowire.SizeTag(valueTag) + protowire.SizeBytes(len(s.Tag)) + protowire.SizeTag(valueSimple) + protowire.SizeFixed32()
		t.summary = protowire.AppendTag(t.summary, summaryValue, protowire.BytesType)
		t.summary = protowire.AppendVarint(t.summary, uint64(size))
		t.summary = protowire.AppendTag(t.summary, valueTag, protowire.BytesType)
		t.summary = protowire.AppendString(t.summary, s.Tag)
		t.summary = protowire.AppendTag(t.summary, valueSimple, protowire.Fixed32Type)
		t.summary = protowire.AppendFixed32(t.summary, math.Float32bits(float32(s.Value)))
	}
	t.begin(wall)
	t.event = protowire.AppendTag(t.event, eventStep, protowire.VarintType)
	t.event = protowire.AppendVarint(t.event, uint64(step))
	t.event = protowire.AppendTag(t.event, eventSummary, protowire.BytesType)
	t.event = protowire.AppendBytes(t.event, t.summary)
	return t.record()
}

func (t *Writer) begin(wall time.Time) {
	t.event = protowire.AppendTag(t.event[:0], eventWallTime, protowire.Fixed64Type)
	t.event = protowire.AppendFixed64(t.event, math.Float64bits(float64(wall.UnixMicro())/1e6))
}

// record frames the event: its length, the length's checksum, the event, its checksum.
func (t *Writer) record() error {
	var head [12]byte
	binary.LittleEndian.PutUint64(head[:], uint64(len(t.event)))
	binary.LittleEndian.PutUint32(head[8:], masked(head[:8]))
	var tail [4]byte
	binary.LittleEndian.PutUint32(tail[:], masked(t.event))
	for _, b := range [][]byte{head[:], t.event, tail[:]} {
		if _, err := t.w.Write(b); err != nil {
			return fmt.Errorf("tensorboard: %w", err)
		}
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is a record's CRC-32C, turned by 15 bits with a constant added, so that a checksum of data that holds checksums is
// still a good one (tensorflow/core/lib/hash/crc32c.h).
func masked(b []byte) uint32 {
	sum := crc32.Checksum(b, castagnoli)
	return (sum>>15 | sum<<17) + 0xa282ead8
}
