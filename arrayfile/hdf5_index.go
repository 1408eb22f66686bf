package arrayfile

import (
	"math"
	"math/bits"
	"slices"
)

// newer returns how to read one of the five indexes of the newer layout. Most are lists in which a chunk's place follows from its place along
// each axis, in an array as large as it may grow.
func (g *hdf5Grid) newer(c *hdf5Cursor, version, flags byte) func() {
	switch kind := c.byte(); kind {
	case 1:
		size, mask := g.bytes, uint64(0)
		if flags&2 != 0 {
			size, mask = c.size(), c.uint(4)
		}
		address := c.address()
		return func() { g.add(make([]uint64, len(g.dims)), address, size, mask) }
	case 2:
		address := c.address()
		return func() {
			n := uint64(1)
			for _, count := range g.counts {
				n *= count
			}
			if n > uint64(len(g.f.b)) {
				damagedHDF5("%d chunks", n)
			}
			for i := range n {
				g.numbered(i, address+i*g.bytes, g.bytes, 0)
			}
		}
	case 3:
		c.skip(1) // its header has that, too
		address := c.address()
		return func() { g.fixedArray(address) }
	case 4:
		c.skip(5) // as above
		address := c.address()
		return func() { g.extensibleArray(address) }
	case 5:
		c.skip(6)
		address := c.address()
		return func() { g.records(address, version) }
	}
	panic(naturef("chunks in an index of a kind that is not read"))
}

// records reads an index that is a tree, for arrays that may grow along several axes.
func (g *hdf5Grid) records(address uint64, version byte) {
	if g.f.none(address) {
		return
	}
	width := g.sizeBytes(version)
	g.f.tree2(address, func(c *hdf5Cursor) {
		at, size, mask := make([]uint64, len(g.dims)), g.bytes, uint64(0)
		child := c.address()
		if len(g.filters) > 0 {
			size, mask = c.uint(width), c.uint(4)
		}
		for i := range at {
			at[i] = c.uint(8)
		}
		g.add(at, child, size, mask)
	})
}

// sizeBytes is how many bytes hold the size of a packed chunk.
func (g *hdf5Grid) sizeBytes(version byte) int {
	if version > 4 {
		return g.f.length
	}
	return min(8, 1+(bits.Len64(g.bytes)-1+8)/8)
}

// numbered adds a chunk by its number in an array as large as it may grow. Of the axes, one without an end comes first.
func (g *hdf5Grid) numbered(i, address, size, mask uint64) {
	order := make([]int, 0, len(g.dims))
	for axis := range g.dims {
		if g.most[axis] == math.MaxUint64 {
			order = slices.Insert(order, 0, axis)
		} else {
			order = append(order, axis)
		}
	}
	at := make([]uint64, len(g.dims))
	for k := len(order) - 1; k > 0; k-- {
		axis := order[k]
		n := max(1, (g.most[axis]+g.chunk[axis]-1)/g.chunk[axis])
		at[axis] = i % n
		i /= n
	}
	at[order[0]] = i
	g.add(at, address, size, mask)
}

// hdf5List reads elements of a list of chunks.
type hdf5List struct {
	*hdf5Grid
	element int
	packed  bool
	next    uint64 // number of the next element
}

func (l *hdf5List) read(c *hdf5Cursor, n uint64) {
	for range n {
		address, size, mask := c.address(), l.bytes, uint64(0)
		if l.packed {
			size, mask = c.uint(l.element-l.f.offset-4), c.uint(4)
		}
		l.numbered(l.next, address, size, mask)
		l.next++
	}
}

// pages reads elements that lie in pages, of which those that were never written are missing: one bit each says so, from a first one on.
func (l *hdf5List) pages(c *hdf5Cursor, n, page uint64, written []byte, first uint64) {
	for i := first; n > 0; i++ {
		some := min(n, page)
		body := &hdf5Cursor{l.f, c.take(some*uint64(l.element) + 4)}
		if written[i/8]&(0x80>>(i%8)) != 0 {
			l.read(body, some)
		} else {
			l.next += some
		}
		n -= some
	}
}

func (g *hdf5Grid) list(kind, element byte) *hdf5List {
	l := &hdf5List{hdf5Grid: g, element: int(element), packed: kind == 1}
	if want := g.f.offset; kind > 1 || l.packed != (len(g.filters) > 0) || l.packed && l.element <= want+4 || !l.packed && l.element != want {
		damagedHDF5("a list of chunks of kind %d with elements of %d bytes", kind, element)
	}
	return l
}

// fixedArray reads a list of as many chunks as there can be.
func (g *hdf5Grid) fixedArray(address uint64) {
	if g.f.none(address) {
		return
	}
	c := g.f.from(address)
	c.sign("FAHD")
	l := g.list(c.byte(), c.byte())
	page, n := uint64(1)<<min(c.uint(1), 40), c.size()
	block := c.address()
	if g.f.none(block) {
		return
	}
	c = g.f.from(block)
	c.sign("FADB")
	c.skip(1 + g.f.offset)
	if n <= page {
		l.read(c, n)
		return
	}
	written := c.take(((n+page-1)/page + 7) / 8)
	c.skip(4)
	l.pages(c, n, page, written, 0)
}

// extensibleArray reads a list that grows: its first chunks lie in an index block, further ones in blocks of growing size, and later those in
// blocks of addresses.
func (g *hdf5Grid) extensibleArray(address uint64) {
	if g.f.none(address) {
		return
	}
	c := g.f.from(address)
	c.sign("EAHD")
	l := g.list(c.byte(), c.byte())
	most, inIndex, least, pointers, page := c.uint(1), c.uint(1), c.uint(1), c.uint(1), uint64(1)<<min(c.uint(1), 40)
	c.skip(6 * g.f.length)
	block := c.address()
	if g.f.none(block) {
		return
	}
	if least == 0 || pointers < 2 || most > 64 || most < uint64(bits.Len64(least)) {
		damagedHDF5("a growing list of chunks with blocks of %d", least)
	}
	e := &hdf5Blocks{hdf5List: l, page: page, place: int(most+7) / 8}
	c = g.f.from(block)
	c.sign("EAIB")
	c.skip(1 + g.f.offset)
	l.read(c, inIndex)
	direct := 2 * bits.Len64(pointers-1)
	for u := range int(most) - bits.Len64(least) + 2 {
		blocks, size := uint64(1)<<(u/2), least<<((u+1)/2)
		if u >= direct {
			e.super(c.address(), blocks, size)
			continue
		}
		for range blocks {
			e.block(c.address(), size, nil, 0)
		}
	}
}

// hdf5Blocks are the blocks of a list that grows.
type hdf5Blocks struct {
	*hdf5List
	page  uint64
	place int // bytes of a block's place
}

// super reads a block of addresses of blocks.
func (e *hdf5Blocks) super(address, blocks, size uint64) {
	if e.f.none(address) {
		e.next += blocks * size
		return
	}
	c := e.f.from(address)
	c.sign("EASB")
	c.skip(1 + e.f.offset + e.place)
	var written []byte // bits for the pages of all blocks, in more bytes than they need
	pages := (size + e.page - 1) / e.page
	if size > e.page {
		written = c.take(blocks * ((pages + 7) / 8))
	}
	for i := range blocks {
		e.block(c.address(), size, written, i*pages)
	}
}

func (e *hdf5Blocks) block(address, size uint64, written []byte, first uint64) {
	if e.f.none(address) {
		e.next += size
		return
	}
	c := e.f.from(address)
	c.sign("EADB")
	c.skip(1 + e.f.offset + e.place)
	if len(written) == 0 {
		e.read(c, size)
		return
	}
	c.skip(4)
	e.pages(c, size, e.page, written, first)
}
