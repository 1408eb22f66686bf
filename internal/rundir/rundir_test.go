package rundir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/faulttest"
)

func TestMain(m *testing.M) {
	leave := faulttest.InMemory()
	code := m.Run()
	leave()
	os.Exit(code)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// listings are the ways to name something by its epoch and to list what is there.
func listings(d Dir) map[string]struct {
	name func(int) string
	list func() ([]int, error)
} {
	return map[string]struct {
		name func(int) string
		list func() ([]int, error)
	}{"checkpoints": {d.Checkpoint, d.Checkpoints}, "frames": {d.Frame, d.Frames}, "features": {d.Features, d.FeatureEpochs}}
}

// TestEpochsAreListedAsTheyAreNamed: for any epochs, what has their names is listed again, ascending, and nothing else is.
func TestEpochsAreListedAsTheyAreNamed(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := Dir(t.TempDir())
		want := rapid.SliceOfNDistinct(rapid.IntRange(1, 1<<62), 0, 8, rapid.ID[int]).Draw(r, "epochs")
		for kind, l := range listings(d) {
			for _, epoch := range want {
				if err := os.MkdirAll(l.name(epoch), 0o777); err != nil {
					r.Fatal(err)
				}
			}
			slices.Sort(want)
			if got, err := l.list(); err != nil || !slices.Equal(got, want) {
				r.Fatalf("%s: %v, %v; wanted %v", kind, got, err, want)
			}
		}
	})
}

// TestANameIsOfOneEpoch: whatever a name in the folder is, it is read as an epoch only if the epoch is written so.
func TestANameIsOfOneEpoch(t *testing.T) {
	digits := rapid.StringMatching(`[-+ ]?0{0,2}[0-9]{0,20}[0-9_ex.]?(\.npz|\.tmp)?`)
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.OneOf(rapid.String(), digits).Draw(r, "name")
		for _, suffix := range []string{"", ".npz"} {
			epoch, ok := epochNamed(name, suffix)
			if ok && (epoch < 1 || fmt.Sprint(epoch)+suffix != name) {
				r.Fatalf("%q is epoch %d", name, epoch)
			}
			if ok && IsStaging(name) {
				r.Fatalf("%q is epoch %d and half-written", name, epoch)
			}
		}
	})
}

// TestHostileNames: names that only look like epochs are listed by none.
func TestHostileNames(t *testing.T) {
	d := Dir(t.TempDir())
	for _, name := range []string{"0", "00", "07", "+7", "-7", " 7", "7 ", "7.0", "7e0", "0x7", "7_0", "٧", "99999999999999999999999", "7.tmp", ".7", "ckpt", "7\n", "%d"} {
		for _, folder := range []string{"ckpt", "features", "frames"} {
			must(t, os.MkdirAll(d.path(folder, name), 0o777))
			must(t, os.MkdirAll(d.path(folder, name+".npz"), 0o777))
		}
	}
	for kind, l := range listings(d) {
		if got, err := l.list(); err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
	}
	if got := d.NewestCheckpoint(1 << 30); got != 0 {
		t.Errorf("the newest checkpoint is %d", got)
	}
	must(t, os.MkdirAll(d.Checkpoint(7), 0o777))
	must(t, os.MkdirAll(d.Checkpoint(12), 0o777))
	for upTo, want := range map[int]int{6: 0, 7: 7, 11: 7, 12: 12, 1 << 30: 12} {
		if got := d.NewestCheckpoint(upTo); got != want {
			t.Errorf("the newest checkpoint up to %d is %d, wanted %d", upTo, got, want)
		}
	}
}

// TestNamesAreWhatTheyWere: labs that exist have these names.
func TestNamesAreWhatTheyWere(t *testing.T) {
	d := Dir("")
	got := []string{d.Config(), d.CheckpointsDir(), d.Checkpoint(300), d.Frame(2), d.Features(8), d.FinalFeatures(), d.FetchedCheckpoint(), d.Arriving(1 << 63),
		Model, Optim, State, Classifier, Shard("train", 0)}
	want := []string{"config.toml", "ckpt", "ckpt/300", "frames/2.npz", "features/8", "features.npz", "ckpt/.fetched", ".g9223372036854775808",
		"model.safetensors", "optim.safetensors", "state.json", "classifier.safetensors", "train-0.safetensors"}
	for i := range want {
		if filepath.ToSlash(got[i]) != want[i] {
			t.Errorf("%q, wanted %q", got[i], want[i])
		}
	}
}

// tree lists all files below a run's folder.
func tree(t *testing.T, d Dir) []string {
	t.Helper()
	list, err := d.Files("")
	must(t, err)
	slices.Sort(list)
	return list
}

func arrays(v ...float32) []arrayfile.Array {
	return []arrayfile.Array{arrayfile.Of("a", []int{len(v)}, v)}
}

// write leaves every file that a run has.
func write(w Writer) error {
	return errors.Join(w.Begin("seed = 1\n"), w.WriteFrame(1, arrays(1)),
		w.WriteFeatures(1, func(put func(string, []arrayfile.Array) error) error {
			return errors.Join(put(Classifier, arrays(1)), put(Shard("train", 0), arrays(2)), put(Shard("test", 0), arrays(3)))
		}),
		w.WriteCheckpoint(1, arrays(1), arrays(2), func(sums map[string]Sum) ([]byte, error) {
			return fmt.Appendf(nil, "%d %d", sums[Model].Bytes, sums[Optim].Bytes), nil
		}),
		w.WriteFinalFeatures(arrays(4)))
}

// TestEveryFileIsWrittenUnderItsName writes all of a run, reads it back, and finds nothing half-written.
func TestEveryFileIsWrittenUnderItsName(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "run"))
	must(t, write(d.Writer(nil)))
	want := []string{"ckpt/1/model.safetensors", "ckpt/1/optim.safetensors", "ckpt/1/state.json", "config.toml", "features.npz",
		"features/1/classifier.safetensors", "features/1/test-0.safetensors", "features/1/train-0.safetensors", "frames/1.npz"}
	if got := tree(t, d); !slices.Equal(got, want) {
		t.Errorf("files %q, wanted %q", got, want)
	}
	must(t, errors.Join(Readable(d.Frame(1)), Readable(d.FinalFeatures()), d.FeaturesReadable(1, "train", "test")))
	info, err := os.Stat(filepath.Join(d.Checkpoint(1), Model))
	must(t, err)
	text, err := os.ReadFile(filepath.Join(d.Checkpoint(1), State))
	must(t, err)
	if want := fmt.Sprintf("%d %[1]d", info.Size()); string(text) != want {
		t.Errorf("the state has sizes %q, wanted %q", text, want)
	}
	must(t, os.Remove(filepath.Join(d.Features(1), Shard("train", 0))))
	if d.FeaturesReadable(1, "train", "test") == nil || d.FeaturesReadable(2) == nil || Readable(d.Frame(2)) == nil {
		t.Error("what is missing can be read")
	}
}

// TestNamesInAFolder are those that other programs know, and those of old versions.
func TestNamesInAFolder(t *testing.T) {
	d := Dir("run")
	for got, want := range map[string]string{
		d.ScriptLog(): "script.log", d.ScriptCommand(): "command.txt", d.RowsOnly(): "rows-only", d.ScriptCode(): "code.sha256", d.ScriptLoaded(): "loaded.sha256", d.Workspaces(): ".script", d.ArrivingCheckpoint(): "ckpt/.tmp", d.Exchange(): ".engine", d.FetchedCheckpoint(): "ckpt/.fetched",
		d.Config(): "config.toml", d.Checkpoint(7): "ckpt/7", d.Frame(8): "frames/8.npz", d.Features(9): "features/9", d.FinalFeatures(): "features.npz", d.CheckpointsDir(): "ckpt",
	} {
		if got != filepath.Join("run", filepath.FromSlash(want)) {
			t.Errorf("%s, want run/%s", got, want)
		}
	}
}

// TestFilesThatAreNotReadable: one without arrays, one with an array of objects beside another, and one that is none.
func TestFilesThatAreNotReadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	for name, c := range map[string]struct{ content, words string }{
		"no arrays": {"\x02\x00\x00\x00\x00\x00\x00\x00{}", path + ": 0 of its arrays can be read, 0 cannot"},
		"one refused": {"\x80\x00\x00\x00\x00\x00\x00\x00" + fmt.Sprintf("%-128s", `{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[1,2]}}`) + "xx",
			path + ": 1 of its arrays can be read, 1 cannot"},
		"text": {"hello", "none of"},
	} {
		must(t, os.WriteFile(path, []byte(c.content), 0o666))
		if err := Readable(path); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v, want %q", name, err, c.words)
		}
	}
}

// TestSweepTakesWhatIsHalfWritten and nothing else, by the names of all versions.
func TestSweepTakesWhatIsHalfWritten(t *testing.T) {
	w := Dir(t.TempDir()).Writer(nil)
	must(t, write(w))
	want := tree(t, w.Dir)
	litter := []string{".g3/x", "g17/x", "config.toml.tmp", "ckpt/.tmp/x", "ckpt/.gone/x", "ckpt/.fetched/x", "features/.tmp/x", "frames/2.npz.tmp"}
	for _, name := range litter {
		path := w.path(filepath.FromSlash(name))
		must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666)))
	}
	list, err := w.Staging()
	if err != nil || len(list) != len(litter) {
		t.Errorf("%d things are half-written: %q, %v", len(list), list, err)
	}
	must(t, w.Sweep())
	if got := tree(t, w.Dir); !slices.Equal(got, want) {
		t.Errorf("files %q, wanted %q", got, want)
	}
	if list, err := (Dir(w.path("missing"))).Staging(); err != nil || len(list) != 0 {
		t.Errorf("of a folder that is not there: %q, %v", list, err)
	}
}

// TestCheckpointsComeAndGo places one from elsewhere over a broken one, and removes later ones.
func TestCheckpointsComeAndGo(t *testing.T) {
	w := Dir(t.TempDir()).Writer(nil)
	for _, epoch := range []int{2, 3, 5} {
		must(t, os.MkdirAll(w.Checkpoint(epoch), 0o777))
	}
	must(t, os.WriteFile(filepath.Join(w.Checkpoint(3), "broken"), nil, 0o666))
	must(t, os.Mkdir(w.FetchedCheckpoint(), 0o777))
	must(t, w.PlaceCheckpoint(3))
	must(t, w.RemoveCheckpointsAfter(3))
	list, err := w.Checkpoints()
	if files := tree(t, w.Dir); err != nil || !slices.Equal(list, []int{2, 3}) || len(files) != 0 {
		t.Errorf("checkpoints %v, files %q, %v", list, files, err)
	}
}

// failingFS fails call number at, from 1, and waits for no disk; a write that fails leaves half of its bytes.
type failingFS struct {
	System
	at, calls int
}

var errFull = errors.New("disk full")

func (f *failingFS) fail() error {
	if f.calls++; f.calls == f.at {
		return errFull
	}
	return nil
}

func (f *failingFS) MkdirAll(dir string) error { return errors.Join(f.fail(), f.System.MkdirAll(dir)) }
func (f *failingFS) SyncDir(string) error      { return f.fail() }

func (f *failingFS) Rename(from, to string) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.System.Rename(from, to)
}

func (f *failingFS) RemoveAll(path string) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.System.RemoveAll(path)
}

func (f *failingFS) Create(path string) (File, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	file, err := f.System.Create(path)
	return &failingFile{file, f}, err
}

type failingFile struct {
	File
	fs *failingFS
}

func (w *failingFile) Write(p []byte) (int, error) {
	if err := w.fs.fail(); err != nil {
		n, _ := w.File.Write(p[:len(p)/2])
		return n, err
	}
	return w.File.Write(p)
}

func (w *failingFile) Sync() error  { return w.fs.fail() }
func (w *failingFile) Close() error { return errors.Join(w.fs.fail(), w.File.Close()) }

// TestEveryFailureIsToldAndLeavesNothingHalf fails each call of writing a run in turn: the error is there, and what has a name is what
// was there before or all of the new.
func TestEveryFailureIsToldAndLeavesNothingHalf(t *testing.T) {
	for at := 1; ; at++ {
		d := Dir(filepath.Join(t.TempDir(), "run"))
		must(t, write(d.Writer(&failingFS{})))
		must(t, d.Writer(&failingFS{}).Begin("seed = 10000\n"))
		fs := &failingFS{at: at}
		err := write(d.Writer(fs))
		if fs.calls < at {
			must(t, err)
			if at < 50 {
				t.Errorf("writing a run takes %d calls only", fs.calls)
			}
			return
		}
		if !errors.Is(err, errFull) {
			t.Fatalf("call %d: %v", at, err)
		}
		config, err := os.ReadFile(d.Config())
		must(t, err)
		if text := string(config); text != "seed = 1\n" && text != "seed = 10000\n" {
			t.Errorf("call %d: the configuration is %q", at, text)
		}
		must(t, errors.Join(Readable(d.Frame(1)), Readable(d.FinalFeatures())))
		for _, kind := range listings(d) {
			epochs, err := kind.list()
			must(t, err)
			for _, epoch := range epochs {
				if found, err := d.Files(mustRel(t, d, kind.name(epoch))); err != nil || len(found) != 1 && len(found) != 3 {
					t.Errorf("call %d: epoch %d has %q, %v", at, epoch, found, err)
				}
			}
		}
		must(t, write(d.Writer(&failingFS{})))
		must(t, d.Writer(&failingFS{}).Sweep())
		if got := tree(t, d); len(got) != 9 || strings.Contains(strings.Join(got, " "), ".tmp") {
			t.Errorf("call %d: written again, there is %q", at, got)
		}
	}
}

func mustRel(t *testing.T, d Dir, path string) string {
	t.Helper()
	rel, err := filepath.Rel(string(d), path)
	must(t, err)
	return rel
}

// TestAnErrorOfTheWriterEndsTheFile: what cannot be written whole gets no name, and an old file stays.
func TestAnErrorOfTheWriterEndsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must(t, ReplaceFile(System{}, path, func(w io.Writer) error { _, err := io.WriteString(w, "old"); return err }))
	err := ReplaceFile(System{}, path, func(w io.Writer) error {
		return errors.Join(errFull, func() error { _, err := io.WriteString(w, "new"); return err }())
	})
	text, read := os.ReadFile(path)
	if !errors.Is(err, errFull) || read != nil || string(text) != "old" {
		t.Errorf("%v; the file holds %q, %v", err, text, read)
	}
	if n, err := Size(func(w io.Writer) error { _, err := io.WriteString(w, "four"); return err }); n != 4 || err != nil {
		t.Errorf("size %d, %v", n, err)
	}
}

// TestWhatCannotBeWrittenHasNoName: arrays that the format cannot hold and a state that cannot be described are errors of every file, and
// what was there stays.
func TestWhatCannotBeWrittenHasNoName(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "run"))
	must(t, write(d.Writer(nil)))
	twice := append(arrays(1), arrays(2)...)
	state := func(map[string]Sum) ([]byte, error) { return nil, nil }
	w := d.Writer(nil)
	for name, err := range map[string]error{
		"model":    w.WriteCheckpoint(2, twice, arrays(1), state),
		"optim":    w.WriteCheckpoint(2, arrays(1), twice, state),
		"state":    w.WriteCheckpoint(2, arrays(1), arrays(1), func(map[string]Sum) ([]byte, error) { return nil, errFull }),
		"frame":    w.WriteFrame(2, twice),
		"final":    w.WriteFinalFeatures(twice),
		"features": w.WriteFeatures(2, func(put func(string, []arrayfile.Array) error) error { return put(Classifier, twice) }),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	must(t, w.Sweep())
	if got := tree(t, d); len(got) != 9 {
		t.Errorf("there is %q", got)
	}
	must(t, Readable(d.FinalFeatures()))
}
