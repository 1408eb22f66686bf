package arrayfile

// hdf5Message is a part of an object's header.
type hdf5Message struct {
	kind   uint64
	shared bool
	b      []byte
}

// The messages that are read, and how many one object may have.
const (
	mostMessages = 1 << 15

	hdf5Dataspace    = 0x01
	hdf5LinkInfo     = 0x02
	hdf5Datatype     = 0x03
	hdf5Link         = 0x06
	hdf5External     = 0x07
	hdf5Layout       = 0x08
	hdf5Filters      = 0x0b
	hdf5Attribute    = 0x0c
	hdf5Continuation = 0x10
	hdf5SymbolTable  = 0x11
)

func has(messages []hdf5Message, kind uint64) bool { return find(messages, kind) != nil }

func find(messages []hdf5Message, kind uint64) *hdf5Message {
	for i := range messages {
		if messages[i].kind == kind {
			return &messages[i]
		}
	}
	return nil
}

// messages reads an object's header with all its continuations.
func (f *hdf5File) messages(address uint64) []hdf5Message {
	c := f.from(address)
	if string(c.b[:min(4, len(c.b))]) != "OHDR" {
		if version := c.byte(); version != 1 {
			damagedHDF5("an object's header of version %d", version)
		}
		c.skip(7)
		n := c.uint(4)
		c.skip(4)
		return f.continued(c.take(n), func(c *hdf5Cursor) hdf5Message {
			m := hdf5Message{kind: c.uint(2)}
			n := c.uint(2)
			m.shared = c.byte()&2 != 0
			c.skip(3)
			m.b = c.take(n)
			return m
		}, 8, "")
	}
	c.sign("OHDR")
	flags := c.byte()
	if flags&0x20 != 0 {
		c.skip(16) // times
	}
	if flags&0x10 != 0 {
		c.skip(4) // how attributes are stored
	}
	n := c.uint(1 << (flags & 3))
	head := 4
	if flags&4 != 0 {
		head = 6 // with the order of creation
	}
	return f.continued(c.take(n), func(c *hdf5Cursor) hdf5Message {
		m := hdf5Message{kind: c.uint(1)}
		n := c.uint(2)
		m.shared = c.byte()&2 != 0
		c.skip(head - 4)
		m.b = c.take(n)
		return m
	}, head, "OCHK")
}

// continued reads messages of a block and of those that it names. Blocks of the newer style are signed and end with a checksum.
func (f *hdf5File) continued(block []byte, next func(*hdf5Cursor) hdf5Message, head int, sign string) (out []hdf5Message) {
	blocks := [][]byte{block}
	for i := 0; i < len(blocks); i++ {
		c := &hdf5Cursor{f, blocks[i]}
		for len(c.b) >= head {
			m := next(c)
			if m.kind != hdf5Continuation {
				if out = append(out, m); len(out) > mostMessages {
					damagedHDF5("a header of more than %d messages", mostMessages)
				}
				continue
			}
			at := &hdf5Cursor{f, m.b}
			more := f.cursor(at.address(), at.size())
			if sign != "" {
				more.skip(len(sign))
				more.b = more.b[:len(more.b)-4]
			}
			blocks = append(blocks, more.b)
		}
	}
	return out
}
