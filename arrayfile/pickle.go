package arrayfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// A reader of pickles. It builds numbers, text, lists, tuples, dicts and what a dialect knows: descriptions of tensors in PyTorch's
// files, arrays in numpy's. It never calls or imports anything, or sets attributes. Opcodes that are not listed here are refused;
// so are globals and calls that a dialect does not list, or they become values that only say so.

const (
	maxStack = 1_000_000
	maxMemo  = 4_000_000
	maxDepth = 256
)

// Values of a pickle besides nil, bool, int64, float64 and string.
type (
	long  string // an integer beyond 64 bits, little endian, two's complement
	tuple []any
	list  struct{ items []any }
	dict  struct{ keys, values []any }
	// global is a class or function, recognised by its name.
	global string
)

// machine runs one pickle.
type machine struct {
	b     []byte
	at    int
	stack []any
	marks []int
	memo  map[uint64]any
	dialect
	account *account
	owed    int64 // memory not yet taken from account
	err     error // the first one; later ones are ignored
}

// dialect is what the pickles of one program contain besides plain values.
type dialect interface {
	// known returns an error if the dialect does not accept the global.
	known(g global) error
	// call returns the result of calling a recognised global with its arguments.
	call(callee any, args tuple) (any, error)
	// state completes a value with the state that was saved with it.
	state(of, state any) error
	// outside returns what a reference to something outside the pickle stands for.
	outside(reference any) (any, error)
	// lenient reports whether objects that are not known become values.
	lenient() bool
}

// unpickle reads the pickle at the start of b and returns its value and its length.
func unpickle(b []byte, d dialect, account *account) (any, int, error) {
	m := &machine{b: b, memo: map[uint64]any{}, dialect: d, account: account}
	for {
		at := m.at
		op := m.take(1)
		if m.err != nil {
			return nil, 0, fmt.Errorf("pickle: %w", m.err)
		}
		if op[0] == '.' {
			if len(m.stack) != 1 || len(m.marks) != 0 {
				return nil, 0, fmt.Errorf("pickle: it ends with %d values; want 1", len(m.stack))
			}
			return m.stack[0], m.at, nil
		}
		m.cost(opMemory)
		m.step(op[0])
		if m.err != nil {
			return nil, 0, fmt.Errorf("pickle: byte %d: %w", at, m.err)
		}
		if len(m.stack) > maxStack || len(m.marks) > maxStack || len(m.memo) > maxMemo {
			return nil, 0, fmt.Errorf("pickle: byte %d: more than %d values wait on the stack or %d are remembered", at, maxStack, maxMemo)
		}
	}
}

// fail records an error, unless it is nil or there already is one.
func (m *machine) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

func (m *machine) failf(format string, args ...any) { m.fail(fmt.Errorf(format, args...)) }

// Upper estimates of the memory that opcodes allocate: a few bytes of a file can ask for much.
const (
	opMemory    = 48  // any value
	itemMemory  = 48  // an item of a list, a tuple or a dict, including the room that lists grow into
	memoMemory  = 48  // a memoized value
	callMemory  = 320 // a call, in addition to what its arguments hold
	oweAtMost   = 1 << 20
	entryMemory = 768 // a tensor that was found
)

// cost takes n bytes of memory from the account, a million at a time.
func (m *machine) cost(n int64) {
	if m.owed += n; m.owed >= oweAtMost {
		n, m.owed = m.owed, 0
		m.fail(m.account.take(n))
	}
}

// costOf is the cost of a copy of arguments.
func (m *machine) costOf(args tuple) {
	n := int64(callMemory)
	for _, a := range args {
		switch a := a.(type) {
		case tuple:
			n += itemMemory * int64(len(a))
		case *list:
			n += itemMemory * int64(len(a.items))
		case string:
			n += int64(len(a))
		}
	}
	m.cost(n)
}

// take returns the next n bytes.
func (m *machine) take(n uint64) []byte {
	if n > uint64(len(m.b)-m.at) {
		m.failf("%d bytes are claimed and %d are left", n, len(m.b)-m.at)
		return nil
	}
	out := m.b[m.at:][:n:n]
	m.at += int(n)
	return out
}

// number reads a little-endian integer of the given size in bytes.
func (m *machine) number(size uint64) uint64 {
	var whole [8]byte
	copy(whole[:], m.take(size))
	return binary.LittleEndian.Uint64(whole[:])
}

// counted reads a length of the given size in bytes, and then that many bytes.
func (m *machine) counted(size uint64) []byte { return m.take(m.number(size)) }

func (m *machine) push(v any) { m.stack = append(m.stack, v) }

var errEmpty = errors.New("a value is taken from an empty stack")

// pop takes the top value, which must be above the last mark.
func (m *machine) pop() any {
	floor := 0
	if len(m.marks) > 0 {
		floor = m.marks[len(m.marks)-1]
	}
	if len(m.stack) <= floor {
		m.fail(errEmpty)
		return nil
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v
}

// popAll takes the n top values, in the order in which they were pushed.
func (m *machine) popAll(n int) []any {
	items := make([]any, n)
	for i := n - 1; i >= 0; i-- {
		items[i] = m.pop()
	}
	return items
}

// popMark takes the values above the last mark.
func (m *machine) popMark() []any {
	if len(m.marks) == 0 {
		m.failf("there is no mark")
		return nil
	}
	at := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	if m.cost(itemMemory * int64(len(m.stack)-at)); m.err != nil {
		return nil
	}
	out := slices.Clone(m.stack[at:])
	m.stack = m.stack[:at]
	return out
}

// step runs one opcode, named as in Python's pickletools.
func (m *machine) step(op byte) {
	switch op {
	case 0x80: // PROTO
		if v := m.number(1); v < 2 || v > 5 {
			m.failf("protocol %d; want 2 to 5", v)
		}
	case 0x95: // FRAME: only says how much to read at once
		if n := m.number(8); n > uint64(len(m.b)-m.at) {
			m.failf("a frame of %d bytes, and %d are left", n, len(m.b)-m.at)
		}
	case 'N':
		m.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		m.push(op == 0x88)
	case 'K': // BININT1
		m.push(int64(m.number(1)))
	case 'M': // BININT2
		m.push(int64(m.number(2)))
	case 'J': // BININT
		m.push(int64(int32(m.number(4))))
	case 'G': // BINFLOAT, big endian
		m.push(math.Float64frombits(bits.ReverseBytes64(m.number(8))))
	case 0x8a, 0x8b: // LONG1, LONG4
		m.long(m.counted([...]uint64{1, 4}[op-0x8a]))
	case 'X', 0x8c, 0x8d, 'U', 'T', 'C', 'B', 0x8e, 0x96:
		m.text(op)
	case ']', '}', ')', '(', 't', 0x85, 0x86, 0x87, 'a', 'e', 's', 'u', '0', '1', '2':
		m.container(op)
	case 'q', 'r', 0x94, 'h', 'j':
		m.remember(op)
	case 'c', 0x93, 'R', 'Q', 'b':
		m.object(op)
	case 0x81, 0x92, 0x8f, 0x90, 0x91:
		m.foreign(op)
	default:
		m.failf("opcode 0x%02x is not read: files may hold tensors or arrays, numbers, text, lists, tuples and dicts only", op)
	}
}

// long pushes an integer, little endian, two's complement.
func (m *machine) long(b []byte) {
	m.cost(int64(len(b)))
	if len(b) > 8 {
		m.push(long(b))
		return
	}
	v := int64(0)
	for i, x := range b {
		v |= int64(x) << (8 * i)
	}
	if n := len(b); n > 0 && n < 8 && b[n-1] >= 0x80 {
		v |= -1 << (8 * n)
	}
	m.push(v)
}

func (m *machine) text(op byte) {
	size := uint64(4) // BINUNICODE, BINSTRING, BINBYTES
	switch op {
	case 0x8c, 'U', 'C': // SHORT_BINUNICODE, SHORT_BINSTRING, SHORT_BINBYTES
		size = 1
	case 0x8d, 0x8e, 0x96: // BINUNICODE8, BINBYTES8, BYTEARRAY8
		size = 8
	}
	b := m.counted(size)
	if m.err == nil { // shared: images of hundreds of megabytes are kept as text or bytes
		m.push(unsafe.String(unsafe.SliceData(b), len(b)))
	}
}

func (m *machine) container(op byte) {
	switch op {
	case ']':
		m.push(&list{})
	case '}':
		m.push(&dict{})
	case ')':
		m.push(tuple{})
	case '(':
		m.marks = append(m.marks, len(m.stack))
	case 't': // TUPLE
		m.push(tuple(m.popMark()))
	case 0x85, 0x86, 0x87: // TUPLE1 to TUPLE3
		m.push(tuple(m.popAll(int(op - 0x84))))
	case '0': // POP
		m.pop()
	case '1': // POP_MARK
		m.popMark()
	case '2': // DUP
		v := m.pop()
		m.stack = append(m.stack, v, v)
	case 'a': // APPEND
		m.fill(op, []any{m.pop()})
	case 's': // SETITEM
		value := m.pop()
		m.fill(op, []any{m.pop(), value})
	case 'e', 'u': // APPENDS, SETITEMS
		m.fill(op, m.popMark())
	}
}

// fill adds items to the list or dict below them.
func (m *machine) fill(op byte, items []any) {
	switch v := m.pop().(type) {
	case *list:
		if op == 'a' || op == 'e' {
			v.items = append(v.items, items...)
			m.push(v)
			return
		}
	case *foreign:
		m.push(v)
		return
	case *dict:
		if (op == 's' || op == 'u') && len(items)%2 == 0 {
			for i := 0; i < len(items); i += 2 {
				v.keys, v.values = append(v.keys, items[i]), append(v.values, items[i+1])
			}
			m.push(v)
			return
		}
	}
	m.failf("opcode %q adds to a value that does not take it", op)
}

// remember memoizes the top value, or fetches a memoized one.
func (m *machine) remember(op byte) {
	key := uint64(len(m.memo)) // MEMOIZE
	switch op {
	case 'q', 'h':
		key = m.number(1)
	case 'r', 'j':
		key = m.number(4)
	}
	if op == 'h' || op == 'j' {
		v, ok := m.memo[key]
		if !ok {
			m.failf("value %d is fetched and was never stored", key)
		}
		m.push(v)
		return
	}
	if len(m.stack) == 0 {
		m.fail(errEmpty)
		return
	}
	m.memo[key] = m.stack[len(m.stack)-1]
	m.cost(memoMemory)
}
