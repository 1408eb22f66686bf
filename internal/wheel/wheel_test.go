package wheel

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// copied makes a copy of the repository's folder python, and of what lies beside it, in a folder of another name.
func copied(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "a b", "python"), os.DirFS("../../python")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "a b", "LICENSE"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "a b", "python")
}

func packed(t *testing.T, dir, version string, program []byte) (string, []byte) {
	t.Helper()
	sources, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	name, data, err := Pack(sources, version, program)
	if err != nil {
		t.Fatal(err)
	}
	return name, data
}

// unzipped reads a wheel: each file's content and its Unix mode.
func unzipped(t *testing.T, data []byte) (files map[string][]byte, modes map[string]uint32, names []string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files, modes = map[string][]byte{}, map[string]uint32{}
	for _, f := range z.File {
		if !f.Modified.Equal(time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%s is of %v", f.Name, f.Modified)
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name], modes[f.Name], names = content, f.ExternalAttrs>>16, append(names, f.Name)
	}
	return files, modes, names
}

func TestNamesAndTags(t *testing.T) {
	for _, c := range []struct {
		program             []byte
		version, name, file string
		tags                []string
	}{
		{elfProgram(62, false), "0.1.0", "collapse_lab-0.1.0-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl", "collapse", []string{"manylinux_2_17_x86_64", "musllinux_1_1_x86_64"}},
		{elfProgram(183, false), "0.1.0", "collapse_lab-0.1.0-py3-none-manylinux_2_17_aarch64.musllinux_1_1_aarch64.whl", "collapse", []string{"manylinux_2_17_aarch64", "musllinux_1_1_aarch64"}},
		{elfProgram(62, true), "0.1.0", "collapse_lab-0.1.0-py3-none-linux_x86_64.whl", "collapse", []string{"linux_x86_64"}},
		{machoProgram(0x01000007, 12<<16), "1.2.0-rc.1", "collapse_lab-1.2.0rc1-py3-none-macosx_12_0_x86_64.whl", "collapse", []string{"macosx_12_0_x86_64"}},
		{machoProgram(0x0100000c, 13<<16|3<<8), "10.0.3", "collapse_lab-10.0.3-py3-none-macosx_13_3_arm64.whl", "collapse", []string{"macosx_13_3_arm64"}},
		{peProgram(0x8664), "0.1.0", "collapse_lab-0.1.0-py3-none-win_amd64.whl", "collapse.exe", []string{"win_amd64"}},
	} {
		name, data := packed(t, "../../python", c.version, c.program)
		if name != c.name {
			t.Errorf("the wheel is %s, want %s", name, c.name)
		}
		files, modes, _ := unzipped(t, data)
		at := "collapse/bin/" + c.file
		if !bytes.Equal(files[at], c.program) || modes[at] != 0o100755 {
			t.Errorf("%s: the program has %d bytes of %d, mode %o", name, len(files[at]), len(c.program), modes[at])
		}
		info, _, _ := strings.Cut(name, "-py3")
		tags := headers(t, files[info+".dist-info/WHEEL"])["Tag"]
		want := []string{}
		for _, tag := range c.tags {
			want = append(want, "py3-none-"+tag)
		}
		if !slices.Equal(tags, want) {
			t.Errorf("%s: tags %v, want %v", name, tags, want)
		}
	}
}

func TestProgramsWithoutATag(t *testing.T) {
	for what, program := range map[string][]byte{
		"nothing": nil, "a script": []byte("#!/bin/sh\n"), "ELF of RISC-V": elfProgram(243, false), "Windows on arm64": peProgram(0xaa64),
		"macOS that says no version": machoProgram(0x0100000c, 0), "half an ELF": elfProgram(62, true)[:40],
	} {
		if tags, err := Tags(program); err == nil {
			t.Errorf("%s has the tags %v", what, tags)
		}
	}
	freebsd := elfProgram(62, false)
	freebsd[7] = 9
	if tags, err := Tags(freebsd); err == nil || !strings.Contains(err.Error(), "FREEBSD") {
		t.Errorf("FreeBSD has the tags %v (%v)", tags, err)
	}
}

func TestVersionsOfPython(t *testing.T) {
	for version, want := range map[string]string{"0.1.0": "0.1.0", "1.2.3-alpha.4": "1.2.3a4", "1.2.3-beta.1": "1.2.3b1", "2.0.0-rc.12": "2.0.0rc12", "1.2": "", "1.2.3+x": "", "1.2.3-dev": "", "": ""} {
		if got, err := publicVersion(version); got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q (%v), want %q", version, got, err, want)
		}
	}
}

// headers reads a file of headers as mail is read.
func headers(t *testing.T, text []byte) mail.Header {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(append(slices.Clone(text), '\n')))
	if err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return m.Header
}

func TestMetadata(t *testing.T) {
	_, data := packed(t, "../../python", "0.1.0", elfProgram(62, false))
	files, _, _ := unzipped(t, data)
	const info = "collapse_lab-0.1.0.dist-info/"
	got := headers(t, files[info+"METADATA"])
	for name, want := range map[string][]string{
		"Metadata-Version": {"2.1"}, "Name": {"collapse-lab"}, "Version": {"0.1.0"}, "Requires-Python": {">=3.8"}, "License": {"MIT"},
		"Provides-Extra": {"matplotlib", "torch"}, "Description-Content-Type": {"text/markdown"},
		"Requires-Dist": {"numpy", "matplotlib; extra == 'matplotlib'", "torch>=1.13; extra == 'torch'"},
	} {
		if !slices.Equal(got[name], want) {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	readme, err := os.ReadFile("../../python/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, body, _ := strings.Cut(string(files[info+"METADATA"]), "\n\n"); body != string(readme) {
		t.Errorf("the description is not README.md but %.80q", body)
	}
	if got, want := string(files[info+"entry_points.txt"]), "[console_scripts]\ncollapse = collapse._program:main\n"; got != want {
		t.Errorf("entry points %q", got)
	}
	if !bytes.Contains(files[info+"LICENSE"], []byte("MIT License")) {
		t.Errorf("LICENSE is %.40q", files[info+"LICENSE"])
	}
	if got := headers(t, files[info+"WHEEL"]); got.Get("Wheel-Version") != "1.0" || got.Get("Root-Is-Purelib") != "false" {
		t.Errorf("WHEEL is %v", got)
	}
}

// TestRecord computes anew what RECORD says of each file.
func TestRecord(t *testing.T) {
	_, data := packed(t, "../../python", "0.1.0", elfProgram(62, false))
	files, _, names := unzipped(t, data)
	const self = "collapse_lab-0.1.0.dist-info/RECORD"
	if names[len(names)-1] != self {
		t.Errorf("RECORD is not last: %v", names)
	}
	rows, err := csv.NewReader(bytes.NewReader(files[self])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, row := range rows {
		listed[row[0]] = true
		if row[0] == self {
			if row[1] != "" || row[2] != "" {
				t.Errorf("RECORD says of itself %v", row)
			}
			continue
		}
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(row[1], "sha256="))
		if sum := sha256.Sum256(files[row[0]]); err != nil || hex.EncodeToString(raw) != hex.EncodeToString(sum[:]) || row[2] != fmt.Sprint(len(files[row[0]])) {
			t.Errorf("RECORD says %v (%v)", row, err)
		}
	}
	if !maps.Equal(listed, set(names)) {
		t.Errorf("RECORD lists %v; the wheel holds %v", listed, names)
	}
}

func set(names []string) map[string]bool {
	s := map[string]bool{}
	for _, n := range names {
		s[n] = true
	}
	return s
}

// TestAWheelHoldsThePackages compares a wheel with the repository's files, and leaves out what Python, editors and people leave there.
func TestAWheelHoldsThePackages(t *testing.T) {
	want := map[string]bool{"collapse/bin/collapse": true}
	for _, name := range []string{"LICENSE", "METADATA", "WHEEL", "entry_points.txt", "RECORD"} {
		want["collapse_lab-0.1.0.dist-info/"+name] = true
	}
	for _, pattern := range []string{"collapse/*.py", "collapse/*/*.py", "collapse_tap/*.py"} {
		found, err := filepath.Glob(filepath.Join("../../python", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			name, _ := filepath.Rel("../../python", path)
			want[filepath.ToSlash(name)] = true
		}
	}
	want["collapse/py.typed"] = true // says that the package has types
	if !want["collapse/__init__.py"] || !want["collapse_tap/__init__.py"] || !want["collapse/engine/nets.py"] {
		t.Fatalf("the repository's files are not where this test looks: %v", want)
	}
	dir := copied(t)
	for _, left := range []string{"collapse/__pycache__/tap.cpython-311.pyc", "collapse/tap.pyc", "collapse/tap.py~", "collapse/.tap.py.swp", "collapse/bin/collapse", "collapse/.idea/x", "stray.py"} {
		path := filepath.Join(dir, left)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("left"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, data := packed(t, dir, "0.1.0", elfProgram(62, false))
	if _, _, names := unzipped(t, data); !maps.Equal(set(names), want) || len(names) != len(want) {
		t.Errorf("the wheel holds\n%q, want\n%q", slices.Sorted(slices.Values(names)), slices.Sorted(maps.Keys(want)))
	}
}

// TestTheSameBytes packs two copies whose files have other times and modes and were made in another order.
func TestTheSameBytes(t *testing.T) {
	name, data := packed(t, "../../python", "0.1.0", elfProgram(62, false))
	dir := copied(t)
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if err := os.Chmod(path, 0o700); err != nil {
			return err
		}
		return os.Chtimes(path, time.Unix(1e9, 0), time.Unix(1e9, 0))
	})
	if err != nil {
		t.Fatal(err)
	}
	if again, other := packed(t, dir, "0.1.0", elfProgram(62, false)); again != name || !bytes.Equal(other, data) {
		t.Errorf("%s and %s differ", name, again)
	}
}

func TestSourcesThatAreRefused(t *testing.T) {
	change := func(old, new string) func(dir string) error {
		return func(dir string) error {
			path := filepath.Join(dir, "pyproject.toml")
			text, err := os.ReadFile(path)
			if err == nil && !strings.Contains(string(text), old) {
				err = fmt.Errorf("pyproject.toml has no %q", old)
			}
			if err == nil {
				err = os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o600)
			}
			return err
		}
	}
	for want, spoil := range map[string]func(dir string) error{
		"folder python":      func(dir string) error { return os.Remove(filepath.Join(dir, "pyproject.toml")) },
		"pip before 21.3":    func(dir string) error { return os.Remove(filepath.Join(dir, "../LICENSE")) },
		"README.md":          func(dir string) error { return os.Remove(filepath.Join(dir, "README.md")) },
		"not a regular file": func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "collapse/secret.py")) },
		"strict mode":        change("requires-python", "require-python"),
		"not_there":          change(`"collapse_tap"`, `"not_there"`),
		"one line":           change(`"MIT"`, `"MIT\nName: other"`),
	} {
		dir := copied(t)
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		sources, err := Read(dir)
		if err == nil {
			_, _, err = Pack(sources, "0.1.0", elfProgram(62, false))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
