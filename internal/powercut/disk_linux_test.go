package powercut

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// traceOf makes what strace writes of calls in the folder /r, in which words in quotes and in angle brackets stand as they are.
func traceOf(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		for _, pair := range []string{`""`, "<>"} {
			parts := strings.Split(line, pair[:1])
			if pair == `""` {
				for i := 1; i < len(parts); i += 2 {
					parts[i] = hexed(parts[i])
				}
			} else {
				for i := 1; i < len(parts); i++ {
					if inside, rest, ok := strings.Cut(parts[i], ">"); ok && strings.HasPrefix(inside, "/") {
						parts[i] = hexed(inside) + ">" + rest
					}
				}
			}
			line = strings.Join(parts, pair[:1])
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

func hexed(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteString(`\x` + hex.EncodeToString([]byte{c}))
	}
	return b.String()
}

// disksOf are all contents of a file that a disk may have after a trace, as far as many seeds show; "-" is a file that is not there.
func disksOf(t *testing.T, file string, named bool, lines ...string) []string {
	t.Helper()
	events, err := parse(strings.NewReader(traceOf(lines...)), "/r")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	r := &Recording{Root: "/r", Named: named, events: events}
	r.play(t, []moment{{after: len(events)}}, func(_ moment, d *disk) {
		for _, writes := range ofWrites {
			for _, names := range ofNames {
				for seed := range uint64(50) {
					content, there := d.forget(forgetting{writes, names, seed})[file]
					if !there {
						content = []byte("-")
					}
					all = append(all, strings.ReplaceAll(string(content), "\x00", "0"))
				}
			}
		}
	})
	slices.Sort(all)
	return slices.Compact(all)
}

var (
	oldFile = []string{
		`7 openat(AT_FDCWD</r>, "/r/a", O_RDWR|O_CREAT|O_CLOEXEC, 0666) = 3</r/a>`, `7 write(3</r/a>, "old", 3) = 3`, `7 fsync(3</r/a>) = 0`,
		`7 openat(AT_FDCWD</r>, "/r", O_RDONLY|O_CLOEXEC) = 4</r>`, `7 fsync(4</r>) = 0`,
	}
	newFileLines = []string{`7 openat(4</r>, "t", O_RDWR|O_CREAT|O_CLOEXEC, 0666) = 5</r/t>`, `8 write(5</r/t>, "neu", 3) = 3`}
	syncNew      = []string{`7 fsync(5</r/t>) = 0`}
	renameNew    = []string{`7 renameat(4</r>, "t", 4</r>, "a") = 0`}
	syncFolder   = []string{`7 fsync(4</r>) = 0`}
)

// TestWhatADiskForgets compares what a disk may hold with what POSIX allows, counted by hand.
func TestWhatADiskForgets(t *testing.T) {
	for name, test := range map[string]struct {
		file  string
		named bool
		trace [][]string
		want  string
	}{
		"a file that was synced with its folder":    {"/a", false, [][]string{oldFile}, "[old]"},
		"a file that was synced without its folder": {"/a", false, [][]string{oldFile[:3]}, "[- old]"},
		"the same where syncing saves names":        {"/a", true, [][]string{oldFile[:3]}, "[old]"},
		"a file that was not synced":                {"/a", false, [][]string{oldFile[:2]}, "[ - 000 o ol old]"},
		"a replacing rename without a sync":         {"/a", false, [][]string{oldFile, newFileLines, renameNew}, "[ 000 n ne neu old]"},
		"a replacing rename":                        {"/a", false, [][]string{oldFile, newFileLines, syncNew, renameNew}, "[neu old]"},
		"a replacing rename whose folder is synced": {"/a", false, [][]string{oldFile, newFileLines, syncNew, renameNew, syncFolder}, "[neu]"},
		"a removal":                 {"/a", false, [][]string{oldFile, {`7 unlinkat(4</r>, "a", 0) = 0`}}, "[- old]"},
		"a removal that is synced":  {"/a", false, [][]string{oldFile, {`7 unlink("/r/a") = 0`}, syncFolder}, "[-]"},
		"a size that is not synced": {"/a", false, [][]string{oldFile, {`7 ftruncate(3</r/a>, 1) = 0`}}, "[o old]"},
		"a write that waits for the disk": {"/a", true, [][]string{{`7 openat(AT_FDCWD</r>, "/r/a", O_RDWR|O_CREAT|O_SYNC, 0666) = 3</r/a>`,
			`7 pwrite64(3</r/a>, "b", 1, 1) = 1`}}, "[0b]"},
		"a sync during which a write came": {"/a", false, [][]string{oldFile, {`7 fsync(3</r/a> <unfinished ...>`, `8 pwrite64(3</r/a>, "O", 1, 0) = 1`,
			`7 <... fsync resumed>) = 0`}}, "[Old old]"},
		"a file in a folder whose name is not synced": {"/d/a", false, [][]string{{`7 mkdirat(AT_FDCWD</r>, "/r/d", 0777) = 0`,
			`7 openat(AT_FDCWD</r>, "/r/d/a", O_RDWR|O_CREAT, 0666) = 3</r/d/a>`, `7 writev(3</r/d/a>, [{iov_base="o", iov_len=1}, {iov_base="ld", iov_len=2}], 2) = 3`,
			`7 fsync(3</r/d/a>) = 0`, `7 openat(AT_FDCWD</r>, "/r/d", O_RDONLY) = 4</r/d>`, `7 fsync(4</r/d>) = 0`}}, "[- old]"},
		"a failure": {"/a", false, [][]string{oldFile, {`7 unlink("/r/a") = -1 EACCES (Permission denied)`}}, "[old]"},
	} {
		if got := fmt.Sprint(disksOf(t, test.file, test.named, slices.Concat(test.trace...)...)); got != test.want {
			t.Errorf("%s: %s, wanted %s", name, got, test.want)
		}
	}
}

// TestARenamedFileIsSomewhere: between two folders, the new name is there before the old one is gone, also when only the old folder is synced.
func TestARenamedFileIsSomewhere(t *testing.T) {
	trace := slices.Concat(oldFile, []string{`7 mkdir("/r/d", 0777) = 0`}, syncFolder, []string{`7 rename("/r/a", "/r/d/b") = 0`})
	for name, lines := range map[string][]string{"no sync": trace, "old folder": slices.Concat(trace, syncFolder)} {
		events, err := parse(strings.NewReader(traceOf(lines...)), "/r")
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]bool{}
		(&Recording{Root: "/r", events: events}).play(t, []moment{{after: len(events)}}, func(_ moment, d *disk) {
			for _, names := range ofNames {
				for seed := range uint64(50) {
					tree := d.forget(forgetting{"none", names, seed})
					kinds[string(tree["/a"])+"+"+string(tree["/d/b"])] = true
				}
			}
		})
		want := map[string]int{"no sync": 3, "old folder": 1}[name]
		if kinds["+"] || len(kinds) != want || !kinds["+old"] {
			t.Errorf("%s: %v", name, kinds)
		}
	}
}

// TestCallsThatCannotBeRepeated: they are an error where they concern the folder, and nothing elsewhere.
func TestCallsThatCannotBeRepeated(t *testing.T) {
	open := `7 openat(AT_FDCWD</r>, "/r/a", O_RDWR|O_CREAT, 0666) = 3</r/a>`
	for line, fails := range map[string]bool{
		`7 fallocate(3</r/a>, 0, 0, 10) = 0`:                                      true,
		`7 mmap(NULL, 10, PROT_READ|PROT_WRITE, MAP_SHARED, 3</r/a>, 0) = 0x7f00`: true,
		`7 mmap(NULL, 10, PROT_READ, MAP_SHARED, 3</r/a>, 0) = 0x7f00`:            false,
		`7 symlink("/x", "/r/l") = 0`:                                             true,
		`7 symlink("/x", "/y") = 0`:                                               false,
		`7 rename("/r/a", "/y") = 0`:                                              true,
		`7 write(3</r/a>, "abc", 10) = 10`:                                        true,
		`7 write(3</r/a>, "abc"..., 10) = 10`:                                     true,
		`7 fallocate(9</elsewhere>, 0, 0, 10) = 0`:                                false,
	} {
		events, err := parse(strings.NewReader(traceOf(open, line)), "/r")
		d := newDisk("/r")
		for i := 0; err == nil && i < len(events); i++ {
			err = d.do(events[i], i)
		}
		if (err != nil) != fails {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := parse(strings.NewReader("7 what is this\n"), "/r"); err == nil {
		t.Error("a line that is no call was read")
	}
}
