package arrayfile

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"sort"
)

// bytes returns the elements: where they lie if they are in one piece, else put together.
func (d *hdf5Dataset) bytes(size int) (out []byte, err error) {
	defer recoveredHDF5(&err)
	f := *d.f // structures are counted anew for each array
	f.spent = 0
	c := &hdf5Cursor{&f, d.layout}
	version := c.byte()
	if version < 3 || version > 5 {
		panic(naturef("a layout of version %d; 3 to 5 are read", version))
	}
	switch class := c.byte(); class {
	case 0:
		return c.take(c.uint(2))[:size:size], nil
	case 1:
		address, n := c.address(), c.size()
		if size == 0 {
			return nil, nil
		}
		if f.none(address) {
			return nil, errors.New("none of its numbers was ever written")
		}
		if n != uint64(size) {
			damagedHDF5("%d bytes for an array of %d", n, size)
		}
		return f.cursor(address, n).b, nil
	case 2:
		return d.chunked(&f, c, version, size)
	case 3:
		panic(naturef("it is a view of arrays in other files"))
	}
	panic(naturef("a layout of a kind that is not read"))
}

// hdf5Chunk is a stored piece of an array.
type hdf5Chunk struct {
	index         uint64 // row-major, in the grid of chunks of the array
	address, size uint64
	mask          uint64 // filters that were left out
}

// hdf5Grid is an array cut into chunks of equal shape.
type hdf5Grid struct {
	*hdf5Dataset
	f      *hdf5File
	chunk  []uint64 // shape
	bytes  uint64   // of a whole chunk, unpacked
	counts []uint64 // chunks along each axis
	chunks []hdf5Chunk
}

// chunked finds all chunks and puts them together.
func (d *hdf5Dataset) chunked(f *hdf5File, c *hdf5Cursor, version byte, size int) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	g := &hdf5Grid{hdf5Dataset: d, f: f, bytes: uint64(d.element)}
	var index func()
	if version == 3 {
		rank := int(c.byte())
		tree := c.address()
		g.shape(c, rank, 4)
		index = func() { g.tree(tree) }
	} else {
		flags, rank := c.byte(), int(c.byte())
		g.shape(c, rank, int(c.byte()))
		index = g.newer(c, version, flags)
	}
	index()
	return g.assemble(size)
}

// shape reads the shape of a chunk, which ends with the size of an element.
func (g *hdf5Grid) shape(c *hdf5Cursor, rank, width int) {
	if rank != len(g.dims)+1 || rank == 1 || width > 8 {
		damagedHDF5("chunks of %d axes in an array of %d", rank-1, len(g.dims))
	}
	for _, n := range g.dims {
		side := c.uint(width)
		if side == 0 || side > 1<<32 {
			damagedHDF5("chunks of length %d", side)
		}
		hi, lo := bits.Mul64(g.bytes, side)
		if hi != 0 || lo > 1<<40 {
			damagedHDF5("chunks of more than 2⁴⁰ bytes")
		}
		g.bytes = lo
		g.chunk, g.counts = append(g.chunk, side), append(g.counts, (n+side-1)/side)
	}
	if got := c.uint(width); got != uint64(g.element) {
		damagedHDF5("elements of %d bytes in chunks and of %d in the array", got, g.element)
	}
}

// add takes a chunk by its place along each axis. One beyond the array is left over from a larger one.
func (g *hdf5Grid) add(at []uint64, address, size, mask uint64) {
	if g.f.none(address) {
		return
	}
	index := uint64(0)
	for i, n := range g.counts {
		if at[i] >= n {
			return
		}
		index = index*n + at[i]
	}
	if err := g.f.account.take(64); err != nil {
		panic(err)
	}
	g.chunks = append(g.chunks, hdf5Chunk{index, address, size, mask})
}

// assemble checks that the chunks are all there and puts them in their places.
func (g *hdf5Grid) assemble(size int) ([]byte, error) {
	want, stored := uint64(1), uint64(0)
	for _, n := range g.counts {
		want *= n // the number of elements is at least as large and does not overflow
	}
	sort.Slice(g.chunks, func(i, j int) bool { a, b := &g.chunks[i], &g.chunks[j]; return cmp.Compare(a.index, b.index) < 0 })
	for i, c := range g.chunks {
		if i > 0 && g.chunks[i-1].index == c.index {
			damagedHDF5("a chunk is there twice")
		}
		stored += min(c.size, 1<<40)
	}
	if n := uint64(len(g.chunks)); n < want {
		return nil, fmt.Errorf("%d of its %d chunks were never written", want-n, want)
	}
	if stored > uint64(len(g.f.b)) || uint64(size)/maxDeflate > stored {
		damagedHDF5("%d bytes of chunks for an array of %d in a file of %d", stored, size, len(g.f.b))
	}
	if err := g.f.account.take(int64(size)); err != nil {
		return nil, err
	}
	out := make([]byte, size)
	for _, c := range g.chunks {
		data, err := g.unpacked(c)
		if err != nil {
			return nil, err
		}
		g.place(out, data, c.index)
	}
	return out, nil
}

// place copies the rows of a chunk that lie within the array.
func (g *hdf5Grid) place(out, data []byte, index uint64) {
	rank := len(g.dims)
	first, shape := make([]uint64, rank), make([]uint64, rank)
	for i := rank - 1; i >= 0; i-- {
		first[i] = index % g.counts[i] * g.chunk[i]
		index /= g.counts[i]
		shape[i] = min(g.chunk[i], g.dims[i]-first[i])
	}
	run := shape[rank-1] * uint64(g.element)
	at := make([]uint64, rank) // within the chunk
	for {
		from, to := uint64(0), uint64(0)
		for i := range rank {
			from, to = from*g.chunk[i]+at[i], to*g.dims[i]+first[i]+at[i]
		}
		copy(out[to*uint64(g.element):][:run], data[from*uint64(g.element):])
		i := rank - 2
		for ; i >= 0; i-- {
			if at[i]++; at[i] < shape[i] {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// tree reads the index of the older layout: a tree whose keys are the size, the filters left out, and the place in elements.
func (g *hdf5Grid) tree(address uint64) {
	if g.f.none(address) {
		return
	}
	at := make([]uint64, len(g.dims))
	g.f.tree1(address, 1, 8+8*(len(g.dims)+1), -1, func(key []byte, child uint64) {
		c := &hdf5Cursor{g.f, key}
		size, mask := c.uint(4), c.uint(4)
		for i := range at {
			first := c.uint(8)
			if first%g.chunk[i] != 0 {
				damagedHDF5("a chunk at element %d, which is no multiple of %d", first, g.chunk[i])
			}
			at[i] = first / g.chunk[i]
		}
		g.add(at, child, size, mask)
	})
}
