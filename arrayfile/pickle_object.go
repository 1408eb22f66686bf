package arrayfile

import (
	"bytes"
	"errors"
)

// object handles what in Python would import, call or change an object: here names and tuples are
// looked at, and nothing else happens.
func (m *machine) object(op byte) error {
	switch op {
	case 'c', 0x93: // GLOBAL, STACK_GLOBAL
		g, err := m.globalName(op)
		if err == nil {
			err = m.cost(int64(len(g)))
		}
		if err != nil {
			return err
		}
		if err := m.known(g); err != nil {
			return err
		}
		return m.push(g)
	case 'Q': // BINPERSID
		v, err := m.pop()
		if err != nil {
			return err
		}
		if v, err = m.outside(v); err != nil {
			return err
		}
		return m.push(v)
	case 'b': // BUILD
		state, err := m.pop()
		if err != nil {
			return err
		}
		v, err := m.pop()
		if err != nil {
			return err
		}
		if s, ok := state.(tuple); ok {
			if err := m.costOf(s); err != nil {
				return err
			}
		}
		if err := m.state(v, state); err != nil {
			return err
		}
		return m.push(v)
	}
	arguments, err := m.pop() // REDUCE
	if err != nil {
		return err
	}
	callee, err := m.pop()
	if err != nil {
		return err
	}
	args, ok := arguments.(tuple)
	if !ok {
		return errors.New("the arguments of a call are no tuple")
	}
	if err := m.costOf(args); err != nil {
		return err
	}
	v, err := m.call(callee, args)
	if err != nil {
		return err
	}
	return m.push(v)
}

func (m *machine) globalName(op byte) (global, error) {
	if op == 'c' {
		module, err := m.line()
		if err != nil {
			return "", err
		}
		name, err := m.line()
		return global(module + " " + name), err
	}
	name, err := m.pop()
	if err != nil {
		return "", err
	}
	module, err := m.pop()
	if err != nil {
		return "", err
	}
	a, ok1 := module.(string)
	b, ok2 := name.(string)
	if !ok1 || !ok2 {
		return "", errors.New("the name of a global is no text")
	}
	return global(a + " " + b), nil
}

func (m *machine) line() (string, error) {
	n := bytes.IndexByte(m.b[m.at:], '\n')
	if n < 0 {
		return "", errors.New("a line does not end")
	}
	s := string(m.b[m.at : m.at+n])
	m.at += n + 1
	return s, nil
}
