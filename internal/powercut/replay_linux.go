package powercut

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// disk is the folder Root of a recording after some of its events.
type disk struct {
	root   *node
	path   string
	open   map[int]*opened
	said   []string
	named  bool   // Recording.Named
	spoken string // the beginning of a line
}

// opened is an open file.
type opened struct {
	node   *node
	offset int64
	end    bool // each write goes to the end
	synced bool // each write waits for the disk
}

func newDisk(root string) *disk { return &disk{root: newFolder(), path: root, open: map[int]*opened{}} }

// do repeats an event, the when-th.
func (d *disk) do(e event, when int) error {
	var err error
	switch e.call {
	case "open", "openat", "creat":
		err = d.doOpen(e, when)
	case "write", "writev", "pwrite64":
		err = d.doWrite(e, when)
	case "fsync", "fdatasync":
		d.of(e.args[0], func(o *opened) { d.sync(o.node, e.began) })
	case "syncfs", "sync":
		d.root.syncAll(e.began)
	case "dup", "fcntl", "dup2", "dup3":
		if _, ok := annotation(e.args[0]); ok && (e.call != "fcntl" || strings.HasPrefix(e.args[1], "F_DUPFD")) {
			d.open[int(e.result)] = d.open[descriptor(e.args[0])]
		}
	case "lseek":
		d.of(e.args[0], func(o *opened) { o.offset = e.result })
	case "ftruncate":
		size, _ := strconv.ParseInt(e.args[1], 0, 64)
		d.of(e.args[0], func(o *opened) { o.node.write(write{at: size, when: when}) })
	case "copy_file_range":
		err = d.doCopy(e, when)
	case "mmap":
		err = e.mapped()
	default:
		err = d.doNames(e, when)
	}
	if err != nil {
		err = fmt.Errorf("powercut: event %d, %s: %w", when, e.call, err)
	}
	return err
}

// sync makes durable what was done to a node, and, if the disk does that, its name and those of the folders above.
func (d *disk) sync(n *node, began int) {
	n.sync(began)
	if !d.named || n.folder {
		return
	}
	seen := map[*node]bool{}
	d.root.survey(seen)
	for above := true; above; {
		above = false
		for folder := range seen {
			for _, e := range folder.renames {
				if e.to == n && e.when < began {
					folder.settleUpTo(e.name, e.when)
				}
			}
			if folder.entries != nil && folder.lasting != nil && holds(folder, n) && folder != d.root {
				n, above = folder, true
				break
			}
		}
	}
}

// holds reports whether a folder lastingly has a node.
func holds(folder, n *node) bool {
	for _, other := range folder.lasting {
		if other == n {
			return true
		}
	}
	return false
}

// doNames repeats what changes names.
func (d *disk) doNames(e event, when int) error {
	switch e.call {
	case "mkdir", "mkdirat":
		return d.make(e.args, newFolder(), when)
	case "rename", "renameat", "renameat2":
		return d.rename(e.args, when)
	case "unlink", "unlinkat", "rmdir":
		folder, name, _, err := d.resolve(e.args)
		if err == nil {
			folder.change(entry{name: name, when: when})
		}
		return err
	case "link", "linkat":
		_, _, rest, err := d.resolve(e.args)
		if err != nil {
			return err
		}
		from, err := d.find(e.args)
		if err != nil {
			return err
		}
		return d.make(rest, from, when)
	}
	return fmt.Errorf("a call that this package cannot repeat: %.300v", e.args)
}

// of calls do with an open file below the root.
func (d *disk) of(arg string, do func(*opened)) {
	at, ok := annotation(arg)
	if o := d.open[descriptor(arg)]; ok && below(at, d.path) && o != nil {
		do(o)
	}
}

// resolve finds the folder and the name that the first arguments stand for: a path, or a folder's descriptor and a path. rest are those that follow.
func (d *disk) resolve(args []string) (folder *node, name string, rest []string, err error) {
	dir, at := d.root, args[0]
	rest = args[1:]
	if !strings.HasPrefix(at, `"`) {
		if o := d.open[descriptor(at)]; o != nil {
			dir = o.node
		}
		at, rest = args[1], args[2:]
	}
	b, ok := text(at)
	if !ok {
		return nil, "", nil, fmt.Errorf("no path: %.200v", args)
	}
	name = string(b)
	if path.IsAbs(name) {
		if !below(name, d.path) {
			return nil, "", nil, fmt.Errorf("%s is not below %s", name, d.path)
		}
		dir, name = d.root, strings.TrimPrefix(strings.TrimPrefix(name, d.path), "/")
	}
	parts := slices.DeleteFunc(strings.Split(path.Clean(name), "/"), func(p string) bool { return p == "" || p == "." })
	if len(parts) == 0 {
		return dir, "", rest, nil
	}
	for _, part := range parts[:len(parts)-1] {
		if dir = dir.entries[part]; dir == nil || !dir.folder {
			return nil, "", nil, fmt.Errorf("%s: no folder %s", name, part)
		}
	}
	return dir, parts[len(parts)-1], rest, nil
}

// find is the node that the first arguments stand for.
func (d *disk) find(args []string) (*node, error) {
	folder, name, _, err := d.resolve(args)
	if err != nil || name == "" {
		return folder, err
	}
	n := folder.entries[name]
	if n == nil {
		err = fmt.Errorf("no %s", name)
	}
	return n, err
}

func (d *disk) make(args []string, n *node, when int) error {
	folder, name, _, err := d.resolve(args)
	if err == nil && name != "" {
		folder.change(entry{name: name, to: n, when: when})
	}
	return err
}

func (d *disk) rename(args []string, when int) error {
	from, was, rest, err := d.resolve(args)
	if err != nil {
		return err
	}
	to, is, flags, err := d.resolve(rest)
	if err != nil {
		return err
	}
	if len(flags) > 0 && flags[0] != "0" && flags[0] != "RENAME_NOREPLACE" {
		return fmt.Errorf("flags %v", flags)
	}
	n := from.entries[was]
	if n == nil {
		return fmt.Errorf("no %s", was)
	}
	to.change(entry{name: is, to: n, when: when})
	from.change(entry{name: was, when: when, with: to, at: is})
	return nil
}
