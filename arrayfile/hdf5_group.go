package arrayfile

import (
	"bytes"
	"math/bits"
)

// visitLink takes a member of a group: its address, or why it has none here.
type visitLink func(name string, address uint64, why error)

// members visits the members of a group: of the old style a tree of names, of the new style messages, or a heap of them if they are many.
func (f *hdf5File) members(messages []hdf5Message, visit visitLink) {
	for _, m := range messages {
		c := &hdf5Cursor{f, m.b}
		switch m.kind {
		case hdf5SymbolTable:
			tree := c.address()
			heap := f.from(c.address())
			heap.sign("HEAP")
			heap.skip(3)
			size := heap.size()
			heap.size()
			names := f.cursor(heap.address(), size).b
			f.tree1(tree, 0, f.length, -1, func(_ []byte, node uint64) { f.symbols(node, names, visit) })
		case hdf5Link:
			f.link(c, visit)
		case hdf5LinkInfo:
			c.skip(1)
			if c.byte()&1 != 0 {
				c.skip(8)
			}
			heap, tree := c.address(), c.address()
			if f.none(heap) {
				continue
			}
			h := f.heap(heap)
			f.tree2(tree, func(record *hdf5Cursor) {
				record.skip(4) // a hash of the name
				f.link(&hdf5Cursor{f, h.object(record)}, visit)
			})
		}
	}
}

// symbols visits the links of a node of the old style.
func (f *hdf5File) symbols(node uint64, names []byte, visit visitLink) {
	c := f.from(node)
	c.sign("SNOD")
	c.skip(1)
	for range c.uint(2) {
		at, address, kind := c.address(), c.address(), c.uint(4)
		c.skip(20)
		name := names[at:]
		name = name[:bytes.IndexByte(name, 0)]
		if kind == 2 {
			visit(string(name), 0, errSoftLink)
			continue
		}
		visit(string(name), address, nil)
	}
}

var errSoftLink = naturef("it is a link to a name or to another file, and links are not followed")

// link reads one link of the new style.
func (f *hdf5File) link(c *hdf5Cursor, visit visitLink) {
	c.skip(1)
	flags, kind := c.byte(), byte(0)
	if flags&8 != 0 {
		kind = c.byte()
	}
	if flags&4 != 0 {
		c.skip(8)
	}
	if flags&0x10 != 0 {
		c.skip(1)
	}
	name := string(c.take(c.uint(1 << (flags & 3))))
	if kind != 0 {
		visit(name, 0, errSoftLink)
		return
	}
	visit(name, c.address(), nil)
}

// tree1 visits the children of a tree of version 1, each with the key before it. Levels descend by one, so it ends.
func (f *hdf5File) tree1(address uint64, kind byte, key, level int, visit func(key []byte, child uint64)) {
	c := f.from(address)
	if got := c.sign("TREE"); got != kind { // it has no version; its kind follows
		damagedHDF5("a tree of kind %d; want %d", got, kind)
	}
	own := int(c.byte())
	if level >= 0 && own != level {
		damagedHDF5("a tree's node of level %d; want %d", own, level)
	}
	n := c.uint(2)
	c.skip(2 * f.offset)
	for range n {
		k := c.take(uint64(key))
		child := c.address()
		if own == 0 {
			visit(k, child)
		} else {
			f.tree1(child, kind, key, own-1, visit)
		}
	}
}

// tree2 visits the records of a tree of version 2.
func (f *hdf5File) tree2(address uint64, visit func(record *hdf5Cursor)) {
	c := f.from(address)
	c.sign("BTHD")
	c.skip(1)
	t := hdf5Tree{f: f, node: int(c.uint(4)), record: int(c.uint(2)), visit: visit}
	depth := int(c.uint(2))
	c.skip(2)
	root, records := c.address(), int(c.uint(2))
	if depth > mostDepth || t.record == 0 || t.node < 16 {
		damagedHDF5("a tree %d deep with nodes of %d bytes and records of %d", depth, t.node, t.record)
	}
	// How many bytes count the records of a child, and of all below it, follows from how many fit.
	fit := (t.node - 10) / t.record
	t.counts = append(t.counts, bytesFor(uint64(fit)))
	t.totals = append(t.totals, 0)
	total := uint64(fit)
	for range depth {
		pointer := f.offset + t.counts[0] + t.totals[len(t.totals)-1]
		fit = (t.node - 10 - pointer) / (t.record + pointer)
		total = uint64(fit) + (uint64(fit)+1)*total
		t.totals = append(t.totals, bytesFor(total))
	}
	if !f.none(root) {
		t.walk(root, records, depth)
	}
}

// bytesFor returns how many bytes hold numbers up to most.
func bytesFor(most uint64) int { return (max(1, bits.Len64(most))-1)/8 + 1 }

// hdf5Tree is a tree of version 2.
type hdf5Tree struct {
	f              *hdf5File
	node, record   int
	counts, totals []int // bytes
	visit          func(*hdf5Cursor)
}

func (t *hdf5Tree) walk(address uint64, records, depth int) {
	c := t.f.from(address)
	if depth == 0 {
		c.sign("BTLF")
	} else {
		c.sign("BTIN")
	}
	c.skip(1)
	for range records {
		t.visit(&hdf5Cursor{t.f, c.take(uint64(t.record))})
	}
	if depth == 0 {
		return
	}
	for range records + 1 {
		child, n := c.address(), int(c.uint(t.counts[0]))
		c.skip(t.totals[depth-1])
		t.walk(child, n, depth-1)
	}
}

// hdf5Heap is a fractal heap, which holds the links of a large group.
type hdf5Heap struct {
	f                   *hdf5File
	idBytes             int
	offset, length      int // bytes of a place in the heap and of an object's length
	width, start, most  uint64
	root                uint64
	rows                int // of the root; 0: it is a block itself
	checksums, filtered bool
}

func (f *hdf5File) heap(address uint64) *hdf5Heap {
	c := f.from(address)
	c.sign("FRHP")
	h := &hdf5Heap{f: f, idBytes: int(c.uint(2))}
	h.filtered = c.uint(2) != 0
	h.checksums = c.byte()&2 != 0
	largest := c.uint(4)
	c.skip(10*f.length + 2*f.offset)
	h.width, h.start, h.most = c.uint(2), c.size(), c.size()
	h.offset = (int(c.uint(2)) + 7) / 8
	c.skip(2)
	h.root, h.rows = c.address(), int(c.uint(2))
	h.length = min((bits.Len64(h.most)+6)/8, bytesFor(largest))
	if h.filtered || h.offset > 8 || h.width == 0 || h.start == 0 {
		damagedHDF5("a heap of links with filters or without blocks")
	}
	return h
}

// object returns what an identifier in a record stands for.
func (h *hdf5Heap) object(id *hdf5Cursor) []byte {
	if kind := id.byte(); kind&0x30 != 0 {
		panic(naturef("a group with a link of extraordinary length, which is not read"))
	}
	at := id.uint(h.offset)
	n := id.uint(h.length)
	block, first := h.block(h.root, h.rows, 0, at, 0)
	return h.f.cursor(block+at-first, n).b
}

// block finds the block that holds a place, and the place of its first byte. An indirect block has rows of blocks: twice those of the first
// size, then of double sizes; those above the largest size are indirect themselves.
func (h *hdf5Heap) block(address uint64, rows int, first, at uint64, depth int) (uint64, uint64) {
	if rows == 0 {
		return address, first
	}
	if depth > mostDepth {
		damagedHDF5("a heap %d deep", depth)
	}
	size := h.start
	c := h.f.from(address)
	c.sign("FHIB")
	c.skip(h.f.offset + h.offset)
	for row := range rows {
		if row > 1 {
			size *= 2
		}
		if all := size * h.width; at-first >= all {
			first += all
			c.skip(int(h.width) * h.f.offset)
			continue
		}
		column := (at - first) / size
		c.skip(int(column) * h.f.offset)
		inner := 0
		if size > h.most {
			inner = bits.Len64(size / h.start / h.width) // as many rows as make its size
		}
		return h.block(c.address(), inner, first+column*size, at, depth+1)
	}
	damagedHDF5("place %d lies beyond a heap", at)
	return 0, 0
}
