package outfile

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"collapse.example/collapse/internal/faulttest"
)

// passed counts calls by name, as "fsync 1, openat 2". How often a path is looked at depends on how long it is.
func passed(calls map[string]int) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		if name == "fstatat" {
			continue
		}
		words = append(words, fmt.Sprint(name, " ", calls[name]))
	}
	return strings.Join(words, ", ")
}

// TestEveryFailedCallIsTold lets each system call of writing a file fail in turn. The error names what was asked for and nothing that is
// temporary, and the file is what it was; or there is another way, and the file is new. Nothing stays beside it, but where removing is what failed.
func TestEveryFailedCallIsTold(t *testing.T) {
	for name, of := range map[string]struct {
		prepare func(dir string) (path string)
		left    []string
		// The calls that may fail: a folder that takes no new file, and a mode or owner that cannot be given, mean that the file is written in
		// place; what is removed after it has got its name (which is two calls) is not there any more.
		around string
		syncs  int // of the new file, and in place of what is longer and of all
	}{
		"a new file": {func(dir string) string { return filepath.Join(dir, "new") }, nil, "unlinkat 2", 1},
		"an old file": {func(dir string) string {
			hold(t, filepath.Join(dir, "old"), "old", 0o640)
			return filepath.Join(dir, "old")
		}, []string{"old"}, "fchmod 1, fstat 1, openat 1, renameat 1, unlinkat 2", 1},
		"one of two names": {func(dir string) string {
			hold(t, filepath.Join(dir, "old"), "old", 0o640)
			if err := os.Link(filepath.Join(dir, "old"), filepath.Join(dir, "other")); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(dir, "old")
		}, []string{"old", "other"}, "openat 1, unlinkat 1", 3},
		"a link": {func(dir string) string {
			hold(t, filepath.Join(dir, "old"), "old", 0o640)
			link(t, "old", filepath.Join(dir, "link"))
			return filepath.Join(dir, "link")
		}, []string{"link", "old"}, "fchmod 1, fstat 1, openat 1, renameat 1, unlinkat 2", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var dir, path string
			var before os.FileInfo // of the file; nil if it is new
			above := t.TempDir()
			t.Setenv("TMPDIR", above)
			n := 0
			reset := func() {
				n++
				dir = filepath.Join(above, fmt.Sprint(n))
				if err := os.Mkdir(dir, 0o777); err != nil {
					t.Fatal(err)
				}
				path = of.prepare(dir)
				before, _ = os.Stat(path)
			}
			around, syncs := map[string]int{}, 0
			reset()
			faulttest.EachCall(t, syscall.EIO, func() error {
				f, err := New(t.Context(), io.Discard).File("--csv", path)
				if err != nil {
					return err
				}
				return f.Write(text("new content"))
			}, func(call string, err error) {
				kind, _, _ := strings.Cut(call, ",")
				if kind == "fsync" {
					syncs++
				}
				got, read := os.ReadFile(path)
				switch {
				case err == nil:
					around[kind]++
					if string(got) != "new content" {
						t.Errorf("%s: no error, and the file holds %q", call, got)
					}
					now, stat := os.Stat(path)
					if stat != nil || before != nil && (now.Mode() != before.Mode() || kind == "openat" && !os.SameFile(now, before)) { // it is written in place
						t.Errorf("%s: the file was %v and is %v, %v", call, before, now, stat)
					}
				case !errors.Is(err, syscall.EIO) || !strings.HasPrefix(err.Error(), "--csv "+path+": ") || strings.Contains(err.Error(), ".collapse-"):
					t.Errorf("%s: %v", call, err)
				case len(of.left) == 0 && !errors.Is(read, os.ErrNotExist) || len(of.left) > 0 && string(got) != "old" && name != "one of two names":
					t.Errorf("%s: the file holds %q, %v", call, got, read)
				}
				if kind != "unlinkat" {
					want := of.left
					if err == nil && len(want) == 0 {
						want = []string{"new"}
					}
					alone(t, dir, want...)
				}
				reset()
			})
			if syncs != of.syncs {
				t.Errorf("%d syncs, want %d", syncs, of.syncs)
			}
			if got := passed(around); got != of.around {
				t.Errorf("there is another way after: %s; want %s", got, of.around)
			}
		})
	}
}

// TestOwnersStayWhateverFails: a file of another user is that user's after every failed call, and old or new.
func TestOwnersStayWhateverFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "theirs")
	reset := func() {
		_ = os.Remove(path)
		hold(t, path, "old", 0o640)
		if err := os.Chown(path, nobody, nobody); err != nil {
			t.Skipf("files of other users need root: %v", err)
		}
	}
	reset()
	chowns := 0
	faulttest.EachCall(t, syscall.EPERM, func() error { return put(t, path, "new") }, func(call string, err error) {
		if strings.HasPrefix(call, "fchown") {
			chowns++
		}
		info, stat := os.Stat(path)
		if stat != nil {
			t.Fatalf("%s: %v", call, stat)
		}
		got, _ := os.ReadFile(path)
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != nobody || owner.Gid != nobody || info.Mode().Perm() != 0o640 || string(got) != "new" && (err == nil || string(got) != "old") {
			t.Errorf("%s: %v; the file is %d's with mode %v and holds %q", call, err, owner.Uid, info.Mode(), got)
		}
		reset()
	})
	if chowns != 1 {
		t.Errorf("the owner is given %d times", chowns)
	}
}

// TestEveryFailedCallOfAFolderIsTold does the same for a folder that is written again. Each file in it is the old or the new one, and the
// next time all are new.
func TestEveryFailedCallOfAFolderIsTold(t *testing.T) {
	older := files{"index.html": "old", "figures/a.svg": "a", "figures/gone.svg": "gone"}
	newer := files{"index.html": "new", "figures/a.svg": "b", "runs/y.svg": "y"}
	either := func(name, words string) bool { return words == older[name] || words == newer[name] }
	above, n := t.TempDir(), 0
	var dir string
	reset := func() {
		n++
		dir = filepath.Join(above, fmt.Sprint(n))
		pages(t, dir, older)
		plant(t, dir, files{"figures/mine.svg": "mine"})
	}
	reset()
	around := map[string]int{}
	var order []string // of the calls that change something for good
	faulttest.EachCall(t, syscall.EIO, func() error { return writePage(t.Context(), dir, newer) }, func(call string, err error) {
		kind, _, _ := strings.Cut(call, ",")
		if kind == "fsync" || kind == "renameat" {
			order = append(order, kind)
		}
		if err == nil {
			around[kind]++
		} else if kind != "fstatat" && !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), spoolName) {
			t.Errorf("%s: %v", call, err)
		}
		for name, words := range snapshot(t, dir) {
			if !strings.Contains("/"+name, "/.collapse-") && !strings.HasSuffix(name, "/") && name != "figures/mine.svg" && !either(name, words) {
				t.Errorf("%s: %s holds %q", call, name, words)
			}
		}
		for _, name := range []string{"index.html", "figures/a.svg"} {
			got, read := os.ReadFile(filepath.Join(dir, name))
			if !either(name, string(got)) || err == nil && string(got) != newer[name] {
				t.Errorf("%s: %v, and %s holds %q, %v", call, err, name, got, read)
			}
		}
		pages(t, dir, newer)
		if got := listed(t, dir); !slices.Equal(got, slices.Sorted(maps.Keys(newer))) {
			t.Errorf("%s: then listed: %q", call, got)
		}
		holds(t, filepath.Join(dir, "index.html"), "new")
		holds(t, filepath.Join(dir, "figures", "mine.svg"), "mine")
		reset()
	})
	// Three files and two lists are on the disk; the list that knows all, and its name; the files but the index, and their folders; the index, and all
	// folders, also those in which a file is removed; the list of what is left.
	const wanted = "fsync×5 renameat×1 fsync×1 renameat×2 fsync×3 renameat×1 fsync×3 fsync×2 renameat×1"
	if got := counted(order); got != counted(strings.Fields(expanded(wanted))) {
		t.Errorf("the calls are %s, want %s", got, wanted)
	}
	for kind, most := range map[string]int{"renameat": 0, "mkdirat": 0, "fchmod": 0, "fsync": 0, "openat": 2} { // what is swept and removed is opened, too
		if around[kind] > most {
			t.Errorf("%d times %s fails and no error is told", around[kind], kind)
		}
	}
}

// counted writes words that repeat as "word×3".
func counted(words []string) string {
	var out []string
	for i := 0; i < len(words); {
		n := 1
		for i+n < len(words) && words[i+n] == words[i] {
			n++
		}
		out = append(out, fmt.Sprintf("%s×%d", words[i], n))
		i += n
	}
	return strings.Join(out, " ")
}

// expanded is the opposite of counted.
func expanded(text string) string {
	var out []string
	for _, word := range strings.Fields(text) {
		var n int
		word, number, _ := strings.Cut(word, "×")
		fmt.Sscan(number, &n)
		out = append(out, strings.Fields(strings.Repeat(word+" ", n))...)
	}
	return strings.Join(out, " ")
}

// TestInputsStayWhateverFails: no failed call lets an output overwrite a file that the command reads, under another name or in a folder.
func TestInputsStayWhateverFails(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "runs", "in"), filepath.Join(dir, "out")
	plant(t, dir, files{"runs/in": "features"})
	link(t, in, out)
	for name, reads := range map[string]func(o *Outputs){
		"the file":   func(o *Outputs) { o.Reads(in) },
		"its folder": func(o *Outputs) { o.ReadsBelow(filepath.Dir(in)) },
	} {
		o := New(t.Context(), io.Discard)
		reads(o)
		var wrong *MisuseError
		faulttest.EachCall(t, syscall.EIO, func() error {
			f, err := o.File("--csv", out)
			if err == nil {
				err = f.Write(text("rows"))
			}
			if errors.As(err, &wrong) {
				return nil
			}
			return errors.Join(errors.New("no misuse"), err)
		}, func(call string, err error) {
			if err != nil && !errors.Is(err, syscall.EIO) {
				t.Errorf("%s, %s: %v", name, call, err)
			}
			holds(t, in, "features")
		})
	}
}
