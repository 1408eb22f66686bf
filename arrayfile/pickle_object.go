package arrayfile

import "bytes"

// object handles opcodes that in Python would import, call or change an object: here only names and tuples are examined.
func (m *machine) object(op byte) {
	switch op {
	case 'c', 0x93: // GLOBAL, STACK_GLOBAL
		g := m.globalName(op)
		m.cost(int64(len(g)))
		m.fail(m.known(g))
		m.push(g)
	case 'Q': // BINPERSID
		v, err := m.outside(m.pop())
		m.fail(err)
		m.push(v)
	case 'b': // BUILD
		state := m.pop()
		v := m.pop()
		if s, ok := state.(tuple); ok {
			m.costOf(s)
		}
		if w, ok := v.(*joblibWrapper); ok && m.err == nil {
			v = m.joblib(w, state)
		} else if m.err == nil {
			m.fail(m.state(v, state))
		}
		m.push(v)
	case 'R': // REDUCE
		arguments := m.pop()
		callee := m.pop()
		args, ok := arguments.(tuple)
		if !ok {
			m.failf("the arguments of a call are not a tuple")
		}
		if m.costOf(args); m.err == nil {
			v, err := m.call(callee, args)
			m.fail(err)
			m.push(v)
		}
	}
}

// foreign handles opcodes of objects and sets, which only lenient dialects read.
func (m *machine) foreign(op byte) {
	if !m.lenient() {
		m.failf("opcode 0x%02x is not read: files may hold tensors or arrays, numbers, text, lists, tuples and dicts only", op)
		return
	}
	switch op {
	case 0x81, 0x92: // NEWOBJ, NEWOBJ_EX with named arguments
		if op == 0x92 {
			m.pop()
		}
		m.step('R')
	case 0x8f, 0x91: // EMPTY_SET, FROZENSET
		if op == 0x91 {
			m.popMark()
		}
		m.push(plain)
	case 0x90: // ADDITEMS
		m.popMark()
		m.push(m.pop())
	}
}

func (m *machine) globalName(op byte) global {
	if op == 'c' {
		module := m.line()
		return global(module + " " + m.line())
	}
	name := m.pop()
	module, ok1 := m.pop().(string)
	text, ok2 := name.(string)
	if !ok1 || !ok2 {
		m.failf("the name of a global is not text")
	}
	return global(module + " " + text)
}

func (m *machine) line() string {
	n := bytes.IndexByte(m.b[m.at:], '\n')
	if n < 0 {
		m.failf("a line does not end")
		return ""
	}
	s := string(m.b[m.at : m.at+n])
	m.at += n + 1
	return s
}
