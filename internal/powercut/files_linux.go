package powercut

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// doOpen repeats the opening of a file, which may be a new one.
func (d *disk) doOpen(e event, when int) error {
	folder, name, rest, err := d.resolve(e.args)
	if err != nil {
		return err
	}
	n := folder
	if name != "" {
		n = folder.entries[name]
	}
	flags := strings.Split(append(rest, "")[0], "|")
	has := func(flag string) bool {
		for _, f := range flags {
			if f == flag {
				return true
			}
		}
		return false
	}
	if n == nil && !has("O_CREAT") && e.call != "creat" {
		return fmt.Errorf("no %s", name)
	}
	if n == nil {
		n = newFile()
		folder.change(entry{name: name, to: n, when: when})
	}
	if (has("O_TRUNC") || e.call == "creat") && len(n.now) > 0 {
		n.write(write{when: when})
	}
	d.open[int(e.result)] = &opened{node: n, end: has("O_APPEND"), synced: has("O_SYNC") || has("O_DSYNC")}
	return nil
}

// doWrite repeats a write, or notes what was said.
func (d *disk) doWrite(e event, when int) error {
	var data []byte
	if e.call == "writev" {
		data = vector(e.args[1])
	} else if written, ok := text(e.args[1]); ok {
		data = written
	} else {
		return errors.New("what was written is not there")
	}
	if int64(len(data)) < e.result {
		return errors.New("what was written is not whole")
	}
	data = data[:e.result]
	at, _ := annotation(e.args[0])
	if descriptor(e.args[0]) == 1 && !below(at, d.path) {
		d.say(data)
		return nil
	}
	d.of(e.args[0], func(o *opened) {
		offset := o.offset
		switch {
		case e.call == "pwrite64":
			offset, _ = strconv.ParseInt(e.args[3], 0, 64)
		case o.end:
			offset = int64(len(o.node.now))
		}
		if e.call != "pwrite64" {
			o.offset = offset + e.result
		}
		d.put(o, offset, data, when)
	})
	return nil
}

func (d *disk) put(o *opened, offset int64, data []byte, when int) {
	if len(data) == 0 {
		return
	}
	o.node.write(write{at: offset, data: data, when: when})
	if o.synced {
		d.sync(o.node, when+1)
	}
}

// say notes the lines of standard output.
func (d *disk) say(data []byte) {
	d.spoken += string(data)
	for {
		line, rest, ok := strings.Cut(d.spoken, "\n")
		if !ok {
			return
		}
		d.said, d.spoken = append(d.said, line), rest
	}
}

// doCopy repeats the copying of one file's bytes to another.
func (d *disk) doCopy(e event, when int) error {
	if to, _ := annotation(e.args[2]); !below(to, d.path) {
		return nil
	}
	from, to := d.open[descriptor(e.args[0])], d.open[descriptor(e.args[2])]
	if at, _ := annotation(e.args[0]); !below(at, d.path) || from == nil || to == nil {
		return errors.New("a copy from outside")
	}
	read, written := place(e.args[1], &from.offset, e.result), place(e.args[3], &to.offset, e.result)
	d.put(to, written, bytes.Clone(from.node.now[read:read+e.result]), when)
	return nil
}

// place is the offset "[5]", or that of the open file, which moves on.
func place(arg string, offset *int64, by int64) int64 {
	if n, err := strconv.ParseInt(strings.Trim(arg, "[]"), 0, 64); err == nil {
		return n
	}
	*offset += by
	return *offset - by
}

// mapped refuses files that are written in memory, but for SQLite's index of its log, which SQLite makes anew when a lab is opened.
func (e event) mapped() error {
	at, _ := annotation(e.args[4])
	if strings.Contains(e.args[2], "PROT_WRITE") && strings.Contains(e.args[3], "MAP_SHARED") && !strings.HasSuffix(at, "-shm") {
		return fmt.Errorf("%s is written in memory", at)
	}
	return nil
}
