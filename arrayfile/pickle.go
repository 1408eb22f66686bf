package arrayfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// A reader of pickles. It builds numbers, text, lists, tuples, dicts and what a dialect knows: descriptions
// of tensors in PyTorch's files, arrays in numpy's. It never calls, imports or sets attributes of anything.
// Opcodes that are not listed here, and globals and reductions that a dialect does not list, are refused.

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
	owed    int64 // memory that is not yet taken from account
}

// dialect is what the pickles of one program hold besides plain values.
type dialect interface {
	// known returns an error if the global is not one the dialect looks at.
	known(g global) error
	// call is what a recognised global makes of its arguments.
	call(callee any, args tuple) (any, error)
	// state completes a value with the state that was saved with it.
	state(of, state any) error
	// outside is what a reference to something outside of the pickle stands for.
	outside(reference any) (any, error)
	// string holds a text or bytes of the file; copies reports whether as a copy.
	string(b []byte) string
	copies() bool
}

// unpickle reads the pickle at the start of b and returns its value and its length.
func unpickle(b []byte, d dialect, account *account) (any, int, error) {
	m := &machine{b: b, memo: map[uint64]any{}, dialect: d, account: account}
	for {
		at := m.at
		op, err := m.take(1)
		if err != nil {
			return nil, 0, fmt.Errorf("pickle: %w", err)
		}
		if op[0] == '.' {
			if len(m.stack) != 1 || len(m.marks) != 0 {
				return nil, 0, fmt.Errorf("pickle: it ends with %d values; want 1", len(m.stack))
			}
			return m.stack[0], m.at, nil
		}
		err = m.cost(opMemory)
		if err == nil {
			err = m.step(op[0])
		}
		if err != nil {
			return nil, 0, fmt.Errorf("pickle: byte %d: %w", at, err)
		}
		if len(m.stack) > maxStack || len(m.marks) > maxStack || len(m.memo) > maxMemo {
			return nil, 0, fmt.Errorf("pickle: byte %d: more than %d values wait on the stack or %d are remembered", at, maxStack, maxMemo)
		}
	}
}

// Memory, at most and about, of what opcodes make: few bytes of a file can ask for much.
const (
	opMemory    = 48  // any value
	itemMemory  = 48  // an item of a list, a tuple or a dict, with the room that lists grow into
	memoMemory  = 48  // a value that is remembered
	callMemory  = 320 // what is called, beside what its arguments hold
	oweAtMost   = 1 << 20
	entryMemory = 768 // a tensor that was found
)

// cost takes n bytes of memory from the account, a million at once.
func (m *machine) cost(n int64) error {
	if m.owed += n; m.owed < oweAtMost {
		return nil
	}
	n, m.owed = m.owed, 0
	return m.account.take(n)
}

// costOf is the cost of a copy of arguments.
func (m *machine) costOf(args tuple) error {
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
	return m.cost(n)
}

// take returns the next n bytes.
func (m *machine) take(n uint64) ([]byte, error) {
	if n > uint64(len(m.b)-m.at) {
		return nil, fmt.Errorf("%d bytes are claimed and %d are left", n, len(m.b)-m.at)
	}
	out := m.b[m.at:][:n:n]
	m.at += int(n)
	return out, nil
}

// number reads a little-endian integer of so many bytes.
func (m *machine) number(size uint64) (uint64, error) {
	b, err := m.take(size)
	if err != nil {
		return 0, err
	}
	var whole [8]byte
	copy(whole[:], b)
	return binary.LittleEndian.Uint64(whole[:]), nil
}

// counted reads a length of so many bytes and then as many bytes.
func (m *machine) counted(size uint64) ([]byte, error) {
	n, err := m.number(size)
	if err != nil {
		return nil, err
	}
	return m.take(n)
}

func (m *machine) push(v any) error {
	m.stack = append(m.stack, v)
	return nil
}

var errEmpty = errors.New("a value is taken from an empty stack")

// pop takes the uppermost value, which must lie above the last mark.
func (m *machine) pop() (any, error) {
	floor := 0
	if len(m.marks) > 0 {
		floor = m.marks[len(m.marks)-1]
	}
	if len(m.stack) <= floor {
		return nil, errEmpty
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v, nil
}

// popMark takes the values above the last mark.
func (m *machine) popMark() ([]any, error) {
	if len(m.marks) == 0 {
		return nil, errors.New("there is no mark")
	}
	at := m.marks[len(m.marks)-1]
	m.marks = m.marks[:len(m.marks)-1]
	if err := m.cost(itemMemory * int64(len(m.stack)-at)); err != nil {
		return nil, err
	}
	out := slices.Clone(m.stack[at:])
	m.stack = m.stack[:at]
	return out, nil
}

// step runs one opcode, by the names of Python's pickletools.
func (m *machine) step(op byte) error {
	switch op {
	case 0x80: // PROTO
		v, err := m.number(1)
		if err == nil && (v < 2 || v > 5) {
			err = fmt.Errorf("protocol %d; want 2 to 5", v)
		}
		return err
	case 0x95: // FRAME: only how much to read at once
		n, err := m.number(8)
		if err == nil && n > uint64(len(m.b)-m.at) {
			err = fmt.Errorf("a frame of %d bytes, and %d are left", n, len(m.b)-m.at)
		}
		return err
	case 'N':
		return m.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		return m.push(op == 0x88)
	case 'K', 'M', 'J', 0x8a, 'G':
		return m.numeral(op)
	case 'X', 0x8c, 0x8d, 'U', 'T', 'C', 'B', 0x8e, 0x96:
		return m.text(op)
	case ']', '}', ')', '(', 't', 0x85, 0x86, 0x87, 'a', 'e', 's', 'u', '0', '1', '2':
		return m.container(op)
	case 'q', 'r', 0x94, 'h', 'j':
		return m.remember(op)
	case 'c', 0x93, 'R', 'Q', 'b':
		return m.object(op)
	}
	return fmt.Errorf("opcode 0x%02x is not read: files may hold tensors or arrays, numbers, text, lists, tuples and dicts only", op)
}

func (m *machine) numeral(op byte) error {
	switch op {
	case 'K', 'M': // BININT1, BININT2
		size := uint64(1)
		if op == 'M' {
			size = 2
		}
		v, err := m.number(size)
		if err != nil {
			return err
		}
		return m.push(int64(v))
	case 'J': // BININT
		v, err := m.number(4)
		if err != nil {
			return err
		}
		return m.push(int64(int32(v)))
	case 'G': // BINFLOAT, big endian
		b, err := m.take(8)
		if err != nil {
			return err
		}
		return m.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	}
	b, err := m.counted(1) // LONG1
	if err == nil {
		err = m.cost(int64(len(b)))
	}
	if err != nil {
		return err
	}
	if len(b) > 8 {
		return m.push(long(b))
	}
	v := int64(0)
	for i, x := range b {
		v |= int64(x) << (8 * i)
	}
	if n := len(b); n > 0 && n < 8 && b[n-1] >= 0x80 {
		v |= -1 << (8 * n)
	}
	return m.push(v)
}

func (m *machine) text(op byte) error {
	size := uint64(4) // BINUNICODE, BINSTRING, BINBYTES
	switch op {
	case 0x8c, 'U', 'C': // SHORT_BINUNICODE, SHORT_BINSTRING, SHORT_BINBYTES
		size = 1
	case 0x8d, 0x8e, 0x96: // BINUNICODE8, BINBYTES8, BYTEARRAY8
		size = 8
	}
	b, err := m.counted(size)
	if err == nil && m.copies() {
		err = m.cost(int64(len(b)))
	}
	if err != nil {
		return err
	}
	return m.push(m.string(b))
}

func (m *machine) container(op byte) error {
	switch op {
	case ']':
		return m.push(&list{})
	case '}':
		return m.push(&dict{})
	case ')':
		return m.push(tuple{})
	case '(':
		m.marks = append(m.marks, len(m.stack))
		return nil
	case 't', '1': // TUPLE, POP_MARK
		items, err := m.popMark()
		if err != nil || op == '1' {
			return err
		}
		return m.push(tuple(items))
	case 0x85, 0x86, 0x87: // TUPLE1 to TUPLE3
		items := make(tuple, op-0x84)
		for i := len(items) - 1; i >= 0; i-- {
			var err error
			if items[i], err = m.pop(); err != nil {
				return err
			}
		}
		return m.push(items)
	case '0', '2': // POP, DUP
		v, err := m.pop()
		if err != nil || op == '0' {
			return err
		}
		m.stack = append(m.stack, v, v)
		return nil
	}
	return m.fill(op)
}

// fill adds to a list or dict.
func (m *machine) fill(op byte) error {
	var items []any
	var err error
	switch op {
	case 'e', 'u': // APPENDS, SETITEMS
		items, err = m.popMark()
	default: // APPEND, SETITEM
		items = make([]any, 1)
		if op == 's' {
			items = make([]any, 2)
		}
		for i := len(items) - 1; i >= 0 && err == nil; i-- {
			items[i], err = m.pop()
		}
	}
	if err != nil {
		return err
	}
	v, err := m.pop()
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *list:
		if op == 'a' || op == 'e' {
			v.items = append(v.items, items...)
			return m.push(v)
		}
	case *dict:
		if (op == 's' || op == 'u') && len(items)%2 == 0 {
			for i := 0; i < len(items); i += 2 {
				v.keys, v.values = append(v.keys, items[i]), append(v.values, items[i+1])
			}
			return m.push(v)
		}
	}
	return fmt.Errorf("opcode %q adds to a value that does not take it", op)
}

// remember stores the uppermost value for later, or fetches one.
func (m *machine) remember(op byte) error {
	key := uint64(len(m.memo)) // MEMOIZE
	var err error
	switch op {
	case 'q', 'h':
		key, err = m.number(1)
	case 'r', 'j':
		key, err = m.number(4)
	}
	if err != nil {
		return err
	}
	if op == 'h' || op == 'j' {
		v, ok := m.memo[key]
		if !ok {
			return fmt.Errorf("value %d is fetched and was never stored", key)
		}
		return m.push(v)
	}
	if len(m.stack) == 0 {
		return errEmpty
	}
	m.memo[key] = m.stack[len(m.stack)-1]
	return m.cost(memoMemory)
}
