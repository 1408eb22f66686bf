package script

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/inputfile"
	"collapse.example/collapse/internal/process"
	"collapse.example/collapse/internal/rundir"
)

// says reports an error that is missing or does not name its cause.
func says(t *testing.T, what string, err error, cause string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), cause) {
		t.Errorf("%s: %v, want an error that says %q", what, err, cause)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)))
}

func digestOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// TestCodeStaysBelowItsFolder: patterns and names that lead out of the folder, name nothing or cannot be read are refused; what is in it is digested.
func TestCodeStaysBelowItsFolder(t *testing.T) {
	above := t.TempDir()
	folder := filepath.Join(above, "study")
	put(t, filepath.Join(folder, "a.py"), "a")
	put(t, filepath.Join(folder, "lib", "b.py"), "b")
	put(t, filepath.Join(folder, "data.py", "c"), "a folder")
	put(t, filepath.Join(above, "evil.py"), "evil")
	must(t, syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600))
	for pattern, cause := range map[string]string{
		"../evil.py": "is not in the folder of the study's file, " + folder, "/etc/passwd": "is not in the folder of the study's file", "lib/../../evil.py": "is not in the folder of the study's file",
		"": "is not in the folder of the study's file", "[": "syntax error in pattern", "none*.py": `"none*.py" names no file in ` + folder, "data.py": `"data.py" names a folder`, "pipe": "is a pipe",
	} {
		_, err := DigestCode(folder, []string{pattern})
		says(t, pattern, err, cause)
	}
	code, err := DigestCode(folder, []string{"*.py", "lib/*", "./a.py"})
	want := map[string]string{"a.py": digestOf("a"), "lib/b.py": digestOf("b")}
	if err != nil || !maps.Equal(code, want) {
		t.Errorf("%v, %v; want %v", code, err, want)
	}
	data, err := DigestData(folder, []string{filepath.Join(above, "*.py"), "lib/b.py"})
	if err != nil || !slices.Equal(data, []string{digestOf("evil"), digestOf("b")}) { // by name
		t.Errorf("%v, %v", data, err)
	}
	s := Spec{Code: code}
	must(t, s.checkCode(folder))
	for name, c := range map[string]struct {
		code  map[string]string
		cause string
	}{
		"changed": {map[string]string{"a.py": digestOf("b")}, "a.py has changed: the run is of other code"},
		"gone":    {map[string]string{"none.py": digestOf("b")}, "none.py is not there"},
		"outside": {map[string]string{"../evil.py": digestOf("evil")}, "../evil.py is not below the folder of the code"},
		"a pipe":  {map[string]string{"pipe": digestOf("")}, "is a pipe"},
	} {
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		s := Spec{Code: c.code}
		says(t, name, s.checkCode(folder), c.cause)
		if err := s.Keep(folder); err == nil || name != "gone" && !strings.Contains(err.Error(), c.cause) || name == "gone" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is kept: %v", name, err)
		}
		if kept := s.kept(folder); kept != "" {
			t.Errorf("%s: %s is used", name, kept)
		}
	}
	if flags := (Spec{Code: map[string]string{"none": ""}}).Flags(folder); len(flags) > 0 {
		t.Errorf("a file that is not there names the flags %v", flags)
	}
}

// TestCodeThatIsTooLarge: 64 MiB in all are kept, and a byte more is refused.
func TestCodeThatIsTooLarge(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	folder := t.TempDir()
	zeros := strings.Repeat("\x00", mostKept-1)
	put(t, filepath.Join(folder, "a"), zeros)
	for text, cause := range map[string]string{"x": "", "xy": "the code has more than 64 MiB"} {
		put(t, filepath.Join(folder, "b"), text)
		err := Spec{Code: map[string]string{"a": digestOf(zeros), "b": digestOf(text)}}.Keep(folder)
		if cause == "" {
			must(t, err)
		} else {
			says(t, "a byte more", err, cause)
		}
	}
}

// TestSpecsThatNoStudyGives: each value out of its range, at its edge, is refused by name, and the one before the edge is taken.
func TestSpecsThatNoStudyGives(t *testing.T) {
	spec := func(change func(*Spec)) error {
		s := Spec{Command: []string{"sh"}, Epochs: 2, Horizon: 2}
		change(&s)
		text, err := s.Encode()
		must(t, err)
		back, err := Decode(text)
		if err == nil && fmt.Sprint(back) != fmt.Sprint(s) {
			t.Errorf("%+v became %+v", s, back)
		}
		return err
	}
	for name, c := range map[string]struct {
		change func(*Spec)
		cause  string
	}{
		"nothing":          {func(*Spec) {}, ""},
		"no command":       {func(s *Spec) { s.Command = nil }, "the command is empty"},
		"an empty command": {func(s *Spec) { s.Command = []string{"", "x"} }, "the command is empty"},
		"an empty word":    {func(s *Spec) { s.Command = []string{"sh", ""} }, ""},
		"a zero byte":      {func(s *Spec) { s.Command = []string{"sh", "a\x00b"} }, "the command holds a zero byte"},
		"no epochs":        {func(s *Spec) { s.Epochs = 0 }, "0 epochs; wanted 1 to"},
		"one epoch":        {func(s *Spec) { s.Epochs = 1 }, ""},
		"most epochs":      {func(s *Spec) { s.Epochs, s.Horizon = MostEpochs, MostEpochs }, ""},
		"more epochs":      {func(s *Spec) { s.Epochs, s.Horizon = MostEpochs+1, MostEpochs+1 }, "epochs; wanted 1 to"},
		"a short horizon":  {func(s *Spec) { s.Horizon = 1 }, ""},
		"no horizon":       {func(s *Spec) { s.Horizon = 0 }, "a horizon of 0; wanted 1 to"},
		"a far horizon":    {func(s *Spec) { s.Horizon = MostEpochs }, ""},
		"too far":          {func(s *Spec) { s.Horizon = MostEpochs + 1 }, "a horizon of"},
		"silence":          {func(s *Spec) { s.Silence = -1 }, "a silence of"},
		"no silence":       {func(s *Spec) { s.Silence = 0 }, ""},
		"a key":            {func(s *Spec) { s.Settings = map[string]any{"lr": "x"} }, ""},
		"a key of ours":    {func(s *Spec) { s.Settings = map[string]any{EpochsKey: "x"} }, fmt.Sprintf("setting %q", EpochsKey)},
		"another of ours":  {func(s *Spec) { s.Settings = map[string]any{SeedKey: "x"} }, fmt.Sprintf("setting %q", SeedKey)},
		"much data":        {func(s *Spec) { s.Inputs = slices.Repeat([]string{"a"}, mostPatterns) }, ""},
		"too much data":    {func(s *Spec) { s.Inputs = slices.Repeat([]string{"a"}, mostPatterns+1) }, fmt.Sprintf("%d patterns of data; wanted at most %d", mostPatterns+1, mostPatterns)},
		"no key":           {func(s *Spec) { s.Settings = map[string]any{"a b": "x"} }, `setting "a b"`},
	} {
		if err := spec(c.change); c.cause == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		} else {
			says(t, name, err, "script: ")
			says(t, name, err, c.cause)
		}
	}
	for text, cause := range map[string]string{`{"x": 1}`: "unknown field", `[`: "unexpected EOF", ``: "EOF"} {
		_, err := Decode(text)
		says(t, text, err, "script: a job that cannot be read: ")
		says(t, text, err, cause)
	}
	for text, want := range map[string]int{`{"run":{"epochs":3}}`: 3, `{"run":{"epochs":0}}`: 0, `{}`: 0, fmt.Sprintf(`{"run":{"epochs":%d}}`, MostEpochs+1): 0, `{"run":{"epochs":"x"}}`: 0, `[`: 0,
		fmt.Sprintf(`{"run":{"epochs":%d}}`, MostEpochs): MostEpochs} {
		n, err := EpochsOf([]byte(text))
		if n != want || (err == nil) != (want > 0) || err != nil && !strings.HasPrefix(err.Error(), "script: configuration: ") {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	}
}

// TestRecordingsThatAreRefused: names beyond the bound, and recordings that nobody could find again.
func TestRecordingsThatAreRefused(t *testing.T) {
	line := func(epoch, from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, `%s"test/m%d": 1`, map[bool]string{true: "", false: ", "}[i == from], i)
		}
		return fmt.Sprintf(`{"epoch": %d, "values": {%s}}`+"\n", epoch, b.String())
	}
	text := ""
	for epoch := range 4 {
		text += line(epoch+1, epoch*mostNames/4, (epoch+1)*mostNames/4)
	}
	r, err := ReadHistory("x", strings.NewReader(text))
	if err != nil || r.Epochs() != 4 {
		t.Fatalf("as many names as may be: %v", err)
	}
	_, err = ReadHistory("x", strings.NewReader(text+line(5, mostNames, mostNames+1)))
	says(t, "a name more", err, fmt.Sprintf("line 5: the history has more than %d names of values", mostNames))
	_, err = ReadHistory("x", strings.NewReader(`{"epoch": 1, "values": {"test/loss": 1}, "done": true}`))
	says(t, "an event", err, "line 1: a history has an epoch and values alone")
	lab := openLab(t, t.TempDir())
	defer lab.Close()
	_, err = (&Recording{Name: " ", epochs: r.epochs}).Save(lab)
	says(t, "no name", err, "a recording needs a name")
	_, err = (&Recording{Name: "x"}).Save(lab)
	says(t, "no epoch", err, "x: there is no epoch to record")
}

// TestARunIsNotCompleteWhereLeftoversStay: what an earlier attempt left and cannot be removed is told.
func TestARunIsNotCompleteWhereLeftoversStay(t *testing.T) {
	dir := t.TempDir()
	child, err := process.Start(exec.Command("true"))
	must(t, err)
	j := job{dir: rundir.Dir(dir), spec: Spec{Epochs: 1}, last: 1, done: time.Now(), child: child, work: &workspace{}}
	left := filepath.Join(dir, ".writing", "a")
	put(t, left, "left")
	failures := 0
	faulttest.EachCall(t, syscall.EIO, j.complete, func(call string, err error) {
		put(t, left, "left")
		if err != nil && strings.Contains(err.Error(), "script: removing what earlier attempts left: ") {
			failures++
		}
	})
	if failures == 0 {
		t.Error("no call's failure is told as that of removing leftovers")
	}
}

// TestEveryFailedCallOfAWorkspaceIsTold: making it, telling the script what to do and removing it; asked again, it is there.
func TestEveryFailedCallOfAWorkspaceIsTold(t *testing.T) {
	run := rundir.Dir(filepath.Join(t.TempDir(), "run"))
	failures := 0
	faulttest.EachCall(t, syscall.EIO, func() error {
		w, err := newWorkspace(run, 3)
		if err != nil {
			return err
		}
		if err := w.tell(runInfo{Epochs: 7}); err != nil {
			w.close()
			return err
		}
		if text, err := inputfile.Read(w.path(runFile), inputfile.Text); err != nil || !strings.Contains(string(text), `"epochs": 7`) {
			w.close()
			return errors.Join(errors.New("script: run.json"), err)
		}
		if _, err := os.Lstat(w.path(heartbeatFile)); errors.Is(err, fs.ErrNotExist) {
			w.close()
			return errors.New("script: there is no heartbeat")
		}
		return w.remove(run)
	}, func(call string, err error) {
		kind, _, _ := strings.Cut(call, ",")
		switch {
		case err == nil && kind != "fstatat" && kind != "unlinkat" && kind != "openat" && kind != "fstat":
			t.Errorf("%s: no error", call)
		case err != nil && (!strings.HasPrefix(err.Error(), "script: ") || !errors.Is(err, syscall.EIO) && kind != "fstatat"):
			t.Errorf("%s: %v", call, err)
		case err != nil:
			failures++
		}
	})
	if failures < 8 {
		t.Errorf("%d failures are told", failures)
	}
}

// TestSpecsThatNoStudyWrites: values of a job that no study's file can give, and settings that JSON cannot say.
func TestSpecsThatNoStudyWrites(t *testing.T) {
	_, err := Decode(`{"command":["x"],"epochs":1,"horizon":1,"same_as":{"x.py":"12"}}`)
	says(t, "no digest", err, `same_as: "x.py" is "12", no SHA-256`)
	_, err = Spec{Settings: map[string]any{"lr": math.NaN()}}.Encode()
	says(t, "a setting that is NaN", err, "unsupported value: NaN")
	w := &workspace{dir: t.TempDir()}
	says(t, "a setting that is NaN, for the script", w.tell(runInfo{Settings: map[string]any{"lr": math.NaN()}}), "unsupported value: NaN")
}

// TestWhereNothingCanBegin: the current folder is gone, a file is in the way, or the events cannot be read any more.
func TestWhereNothingCanBegin(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	must(t, os.Mkdir(gone, 0o777))
	t.Chdir(gone)
	must(t, os.Remove(gone))
	cause := "no such file or directory"
	says(t, "code in a folder that is gone", (&job{code: "code"}).start(), cause)
	says(t, "a run's folder in one that is gone", (&job{code: "/", dir: "run"}).start(), cause)
	_, err := newWorkspace("run", 1)
	says(t, "a workspace in a folder that is gone", err, cause)
	_, err = Spec{}.keptIn("code")
	says(t, "a copy of a folder that is gone", err, cause)
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, "")
	says(t, "checkpoints below a file", (&job{code: "/", dir: rundir.Dir(file)}).start(), "not a directory")
	events, err := os.Open(file)
	must(t, err)
	must(t, events.Close())
	says(t, "events of a closed file", (&job{lines: &lines{path: file, file: events}}).readLines(t.Context()), "reading events")
}

// TestARunsFolderThatIsALink is not gone on from, wherever it leads.
func TestARunsFolderThatIsALink(t *testing.T) {
	spec, folder := written(t, good, 2)
	spec.Horizon = 4
	lab := openLab(t, t.TempDir())
	must(t, Run(t.Context(), lab, spec, Options{Folder: folder}))
	short, _, err := spec.Identity()
	must(t, err)
	dir, elsewhere := lab.RunDir(short), filepath.Join(t.TempDir(), "elsewhere")
	must(t, os.Rename(dir, elsewhere))
	must(t, os.Symlink(elsewhere, dir))
	spec.Epochs = 4
	says(t, "a link in a run's place", Run(t.Context(), lab, spec, Options{Folder: folder, From: short}), "link")
}

// TestSame: a pair speaks of one version of its file, or of its absence.
func TestSame(t *testing.T) {
	a, b := digestOf("a"), digestOf("b")
	code := map[string]string{"x.py": a, "y.py": b}
	for name, c := range map[string]struct {
		pairs map[string][]string
		want  map[string]string
		cause string
	}{
		"this version":    {map[string][]string{"x.py": {a[:12], b}}, map[string]string{"x.py": b}, ""},
		"another version": {map[string][]string{"x.py": {b[:12], b}}, map[string]string{}, ""},
		"a new file":      {map[string][]string{"y.py": {b[:12], ""}}, map[string]string{"y.py": ""}, ""},
		"a file less":     {map[string][]string{"z.py": {"", a}}, map[string]string{"z.py": a}, ""},
		"no file, here":   {map[string][]string{"x.py": {"", a}}, map[string]string{}, ""},
		"short":           {map[string][]string{"x.py": {a[:11], b}}, nil, "wanted two SHA-256"},
		"one":             {map[string][]string{"x.py": {a}}, nil, "wanted two SHA-256"},
		"words":           {map[string][]string{"x.py": {a[:12], "HEAD"}}, nil, "wanted two SHA-256"},
	} {
		got, err := Same(code, c.pairs)
		if c.cause != "" {
			says(t, name, err, c.cause)
		} else if err != nil || !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
	s := Spec{Command: []string{"x"}, Code: code, SameAs: map[string]string{"x.py": b, "y.py": "", "z.py": a}}
	if got := s.CodeInIdentity(); !maps.Equal(got, map[string]string{"x.py": b, "z.py": a}) || s.Code["x.py"] != a {
		t.Errorf("%v of %v", got, s.Code)
	}
}
