package measure

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// A state file (.ncs, docs/internal/ncs.md) holds what one machine computed from its shard: Moments after a first
// pass, or SecondPass after a second one. It is little endian with a fixed layout; the same state gives the
// same bytes; it ends with a SHA-256 of everything before.
const (
	stateMagic  = "NCS2"
	firstMagic  = "NCS1" // version 1: first passes lack the spread of coordinates
	kindMoments = 1
	kindSecond  = 2
	stateHeader = 4 + 4 + 4 + 4 + 4 // magic, kind, flags, K, D
	flagPooled  = 1
	flagFloat32 = 2
	flagValues  = 4
	flagRest    = 8
	flagFar     = 16
)

// StateError says that a .ncs file cannot be used.
type StateError struct{ Reason string }

func (e *StateError) Error() string { return "measure: state file: " + e.Reason }

// State is what a .ncs file holds: one of the two is not nil.
type State struct {
	Moments    *Moments
	SecondPass *SecondPass
}

// ReadState reads a .ncs file held in memory. It allocates no more than a small multiple of len(b), whatever
// the file claims. It returns *StateError for anything but a sound file.
func ReadState(b []byte) (State, error) {
	body := len(b) - sha256.Size
	if body < stateHeader || string(b[:4]) != stateMagic && string(b[:4]) != firstMagic {
		return State{}, &StateError{fmt.Sprintf("it starts with %.4q and has %d bytes; want %q, as `collapse measure --state-out` writes it", b[:min(4, len(b))], len(b), stateMagic)}
	}
	if sum := sha256.Sum256(b[:body]); string(sum[:]) != string(b[body:]) {
		return State{}, &StateError{"its checksum does not match: the file is damaged or cut short; write it again"}
	}
	return parseState(b[:body])
}

// parseState reads what lies before the checksum.
func parseState(b []byte) (State, error) {
	r := &stateReader{rest: b[4:], first: string(b[:4]) == firstMagic}
	kind, flags, k, d := r.uint32(), r.uint32(), r.uint32(), r.uint32()
	if k == 0 || d == 0 || k > math.MaxInt32 || d > math.MaxInt32 {
		return State{}, &StateError{fmt.Sprintf("%d classes of width %d are impossible", k, d)}
	}
	switch kind {
	case kindMoments:
		m, err := parseMoments(r, flags, int(k), int(d))
		return State{Moments: m}, err
	case kindSecond:
		s, err := parseSecond(r, flags, int(k), int(d))
		return State{SecondPass: s}, err
	}
	return State{}, &StateError{fmt.Sprintf("kind %d is neither 1 (first pass) nor 2 (second pass); a newer program wrote it", kind)}
}

// stateWriter appends the fields of a state to a buffer.
type stateWriter struct{ b []byte }

func newStateWriter(kind, flags uint32, k, d, capacity int) *stateWriter {
	w := &stateWriter{b: make([]byte, 0, stateHeader+capacity+sha256.Size)}
	w.b = append(w.b, stateMagic...)
	w.uint32(kind)
	w.uint32(flags)
	w.uint32(uint32(k))
	w.uint32(uint32(d))
	return w
}

func (w *stateWriter) uint32(v uint32) { w.b = binary.LittleEndian.AppendUint32(w.b, v) }
func (w *stateWriter) integer(v int)   { w.b = binary.LittleEndian.AppendUint64(w.b, uint64(v)) }
func (w *stateWriter) float(v float64) {
	w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(v))
}
func (w *stateWriter) floats(x []float64) {
	for _, v := range x {
		w.float(v)
	}
}

func (w *stateWriter) integers(x []int) {
	for _, v := range x {
		w.integer(v)
	}
}

// finish adds the checksum and writes all.
func (w *stateWriter) finish(to io.Writer) (int64, error) {
	sum := sha256.Sum256(w.b)
	w.b = append(w.b, sum[:]...)
	n, err := to.Write(w.b)
	if err != nil {
		err = fmt.Errorf("measure: writing a state file: %w", err)
	}
	return int64(n), err
}

// stateReader takes fields off the front; the caller checks lengths with need first.
type stateReader struct {
	rest  []byte
	first bool   // version 1
	bad   string // the first field that our writers cannot have written
}

// need reports whether exactly that many 8-byte numbers are left; terms of a sum that may overflow.
func (r *stateReader) need(terms ...[2]int) error {
	want := 0.0 // exact below 2⁵³, and a file has fewer bytes
	for _, t := range terms {
		want += float64(t[0]) * float64(t[1])
	}
	if want*8 != float64(len(r.rest)) {
		return &StateError{fmt.Sprintf("its header needs %.0f bytes, but %d are there", want*8, len(r.rest))}
	}
	return nil
}

func (r *stateReader) uint32() uint32 {
	v := binary.LittleEndian.Uint32(r.rest)
	r.rest = r.rest[4:]
	return v
}

func (r *stateReader) uint64() uint64 {
	v := binary.LittleEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return v
}

// integer reads a count.
func (r *stateReader) integer(what string) int {
	v := r.uint64()
	if v > 1<<52 {
		r.fail(what)
		return 0
	}
	return int(v)
}

func (r *stateReader) integers(what string, n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = r.integer(what)
	}
	return x
}

// floats reads numbers that are neither NaN nor infinite.
func (r *stateReader) floats(what string, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Float64frombits(r.uint64())
		if x[i]-x[i] != 0 {
			r.fail(what)
		}
	}
	return x
}

// extreme reads a smallest or largest margin: infinite if there was no sample, never NaN.
func (r *stateReader) extreme() float64 {
	v := math.Float64frombits(r.uint64())
	if v != v {
		r.fail("margin")
	}
	return v
}

// squares reads numbers that are sums of squares.
func (r *stateReader) squares(what string, n int) []float64 {
	x := r.floats(what, n)
	for _, v := range x {
		if !(v >= 0) {
			r.fail(what)
		}
	}
	return x
}

func (r *stateReader) fail(what string) {
	if r.bad == "" {
		r.bad = what
	}
}

func (r *stateReader) err() error {
	if r.bad == "" {
		return nil
	}
	return &StateError{"impossible " + r.bad}
}
