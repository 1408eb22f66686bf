package arrayfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// HDF5 files, as h5py, Keras and MATLAB 7.3 write them ("HDF5 File Format Specification", version 3.0): numbers and text in groups of either
// style, contiguous, compact or in chunks with any of their indexes, packed with deflate or LZF, shuffled, with checksums of Fletcher.
//
// A file is a graph of addresses. Each part is read where it lies, within the file's bytes; what lies outside them makes Go panic, which
// recoveredHDF5 turns into an error. The checksums of the newer structures are not compared.

const hdf5Magic = "\x89HDF\r\n\x1a\n"

// isHDF5 reports whether b is HDF5. MATLAB puts 512 bytes of its own before it.
func isHDF5(b []byte) bool {
	return bytes.HasPrefix(b, []byte(hdf5Magic)) || len(b) > 520 && string(b[512:520]) == hdf5Magic
}

// hdf5File is an opened file, or a copy of it while one array is read.
type hdf5File struct {
	b              []byte // from the base address, from which addresses count
	offset, length int    // bytes of an address and of a length
	matlab         bool   // arrays are stored by columns
	account        *account
	spent          int // bytes of structures that were read: what points at itself would be read for ever
	entries        []entry
	seen           map[string]bool
	groups         map[uint64]bool
}

// mostDepth bounds how deep groups and trees are nested.
const mostDepth = 64

func damagedHDF5(format string, args ...any) { panic(fmt.Errorf(format, args...)) }

// recoveredHDF5 makes an error of what a reader met.
func recoveredHDF5(err *error) {
	r := recover()
	if e, ok := r.(natureError); ok {
		*err = e
		return
	}
	var over *BudgetError
	if e, ok := r.(error); ok && errors.As(e, &over) {
		*err = e
	} else if r != nil {
		*err = fmt.Errorf("the file is damaged or cut short: %v", r)
	}
}

// parseHDF5 lists the arrays of all groups.
func parseHDF5(b []byte, account *account) ([]entry, error) {
	f := &hdf5File{account: account, seen: map[string]bool{}, groups: map[uint64]bool{}, matlab: bytes.HasPrefix(b, []byte("MATLAB 7.3"))}
	if err := f.parse(b); err != nil {
		return nil, fmt.Errorf("arrayfile: HDF5: %w", err)
	}
	return f.entries, nil
}

func (f *hdf5File) parse(b []byte) (err error) {
	defer recoveredHDF5(&err)
	at := 0
	if !bytes.HasPrefix(b, []byte(hdf5Magic)) {
		at = 512
	}
	f.object(f.superblock(b, at), "", 0)
	return nil
}

// superblock finds the sizes of addresses and the root group.
func (f *hdf5File) superblock(b []byte, at int) uint64 {
	f.b = b
	between := 2 // addresses between the base and the root: an extension and the end
	switch version := b[at+8]; version {
	case 0, 1:
		f.offset, f.length = int(b[at+13]), int(b[at+14])
		at, between = at+24+4*int(version), 4 // of free space, the end, a driver, and the root's name
	case 2, 3:
		f.offset, f.length = int(b[at+9]), int(b[at+10])
		at += 12
	default:
		panic(naturef("a superblock of version %d; 0 to 3 are read", version))
	}
	if f.offset < 2 || f.offset > 8 || f.length < 2 || f.length > 8 {
		damagedHDF5("addresses of %d and lengths of %d bytes", f.offset, f.length)
	}
	c := f.cursor(uint64(at), uint64((between+2)*f.offset))
	base := c.uint(f.offset)
	c.skip(between * f.offset)
	root := c.uint(f.offset)
	f.b = b[base:]
	return root
}

// hdf5Cursor reads a structure from its start.
type hdf5Cursor struct {
	f *hdf5File
	b []byte
}

// cursor is at n bytes of the file.
func (f *hdf5File) cursor(address, n uint64) *hdf5Cursor {
	if address > uint64(len(f.b)) || n > uint64(len(f.b))-address {
		damagedHDF5("%d bytes at address %d of %d", n, address, len(f.b))
	}
	f.spend(int(n) + 64)
	return &hdf5Cursor{f, f.b[address:][:n:n]}
}

func (f *hdf5File) spend(n int) {
	if f.spent += n; f.spent > 1<<20+8*len(f.b) {
		damagedHDF5("its structures are read again and again")
	}
}

// from is at all that follows an address, of which only what is read counts.
func (f *hdf5File) from(address uint64) *hdf5Cursor {
	c := f.cursor(address, 0)
	c.b = f.b[address:]
	return c
}

func (c *hdf5Cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		damagedHDF5("%d bytes are wanted and %d are left", n, len(c.b))
	}
	out := c.b[:n:n]
	c.b = c.b[n:]
	c.f.spend(int(n))
	return out
}

func (c *hdf5Cursor) skip(n int) { c.take(uint64(n)) }

// uint reads a number of n bytes.
func (c *hdf5Cursor) uint(n int) uint64 {
	var word [8]byte
	copy(word[:], c.take(uint64(n)))
	return binary.LittleEndian.Uint64(word[:])
}

func (c *hdf5Cursor) byte() byte      { return c.take(1)[0] }
func (c *hdf5Cursor) address() uint64 { return c.uint(c.f.offset) }
func (c *hdf5Cursor) size() uint64    { return c.uint(c.f.length) }

// sign reads the four letters that a structure begins with, and its version.
func (c *hdf5Cursor) sign(want string) byte {
	if got := string(c.take(4)); got != want {
		damagedHDF5("%q where %s belongs", got, want)
	}
	return c.byte()
}

// none reports whether an address says that there is nothing.
func (f *hdf5File) none(address uint64) bool { return address == 1<<(8*f.offset)-1 }

// object adds what a header describes: an array, or the members of a group.
func (f *hdf5File) object(address uint64, name string, depth int) {
	if depth > mostDepth {
		damagedHDF5("groups %d deep", depth)
	}
	messages := f.messages(address)
	if has(messages, hdf5Layout) {
		f.add(f.dataset(name, messages))
		return
	}
	if f.groups[address] {
		return // a second link to it, perhaps from within
	}
	f.groups[address] = true
	f.members(messages, func(member string, at uint64, why error) {
		if f.matlab && name == "" && strings.HasPrefix(member, "#") {
			return // what cells and objects refer to
		}
		if name != "" {
			member = name + "." + member
		}
		if why != nil {
			f.add(entry{Header: Header{Name: member}, err: why})
			return
		}
		f.object(at, member, depth+1)
	})
}

func (f *hdf5File) add(e entry) {
	if err := f.account.take(int64(len(e.Name)) + entryMemory); err != nil {
		panic(err)
	}
	if f.seen[e.Name] {
		damagedHDF5("two arrays are called %.80q", e.Name)
	}
	f.seen[e.Name] = true
	f.entries = append(f.entries, e)
}
