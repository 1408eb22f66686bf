package powercut

import (
	"bytes"
	"maps"
)

// node is a file or a folder. It has what a process sees (now), what the disk is sure to hold (safe), and what was done since.
type node struct {
	folder bool

	now, safe []byte // of a file
	writes    []write

	entries, lasting map[string]*node // of a folder
	renames          []entry
}

// write is a change of a file: data at an offset, or a new size.
type write struct {
	at   int64
	data []byte // nil: a new size
	when int
}

// entry is a change of a folder: a name stands for a node, or for none.
type entry struct {
	name string
	to   *node
	when int
	// A rename makes one entry and takes another away. The file system's rename is trusted: a disk that has the second has the first.
	with *node  // folder of the entry that is made
	at   string // its name
}

func newFile() *node { return &node{} }

func newFolder() *node {
	return &node{folder: true, entries: map[string]*node{}, lasting: map[string]*node{}}
}

// apply is the content after a write.
func (w write) apply(content []byte) []byte {
	if w.data == nil {
		return resize(content, w.at)
	}
	if end := w.at + int64(len(w.data)); end > int64(len(content)) {
		content = resize(content, end)
	} else {
		content = bytes.Clone(content)
	}
	copy(content[w.at:], w.data)
	return content
}

func resize(content []byte, size int64) []byte {
	out := make([]byte, size)
	copy(out, content)
	return out
}

func (n *node) write(w write) {
	n.now = w.apply(n.now)
	n.writes = append(n.writes, w)
}

// sync makes durable what was done to a node before the event began.
func (n *node) sync(began int) {
	left := 0
	for ; left < len(n.writes) && n.writes[left].when < began; left++ {
		n.safe = n.writes[left].apply(n.safe)
	}
	n.writes = n.writes[left:]
	for len(n.renames) > 0 && n.renames[0].when < began {
		e := n.renames[0]
		n.renames = n.renames[1:]
		e.settle(n.lasting)
	}
}

// settle makes a change of a folder durable, and with it the other half of a rename.
func (e entry) settle(lasting map[string]*node) {
	if e.with != nil {
		e.with.settleUpTo(e.at, e.when)
	}
	e.put(lasting)
}

func (e entry) put(names map[string]*node) {
	if e.to == nil {
		delete(names, e.name)
	} else {
		names[e.name] = e.to
	}
}

// settleUpTo makes durable what was done to a name up to an event.
func (n *node) settleUpTo(name string, when int) {
	var now, later []entry
	for _, e := range n.renames {
		if e.name == name && e.when <= when {
			now = append(now, e)
		} else {
			later = append(later, e)
		}
	}
	n.renames = later
	for _, e := range now {
		e.settle(n.lasting)
	}
}

// change changes a folder.
func (n *node) change(e entry) {
	e.put(n.entries)
	n.renames = append(n.renames, e)
}

// syncAll makes all below a folder durable.
func (n *node) syncAll(began int) {
	for _, below := range maps.Clone(n.entries) {
		below.syncAll(began)
	}
	n.sync(began)
}
