package jail

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/internal/inputfile"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// tree makes a folder with files and links (name → what it leads to) beside a file of the user's, and returns both.
func tree(t *testing.T, links map[string]string) (dir, secret string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	secret = filepath.Join(filepath.Dir(dir), "secret")
	must(t, os.MkdirAll(filepath.Join(dir, "ckpt", "3"), 0o777), os.WriteFile(filepath.Join(dir, "ckpt", "3", "state"), []byte("own"), 0o666), os.WriteFile(secret, []byte("secret"), 0o666))
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Skip(err)
		}
	}
	return dir, secret
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		link, to string
		leads    bool // out of the folder
	}{
		{"notes", "../secret", true},
		{"ckpt/4", "../..", true},
		{"ckpt/4", "/etc", true},
		{"ckpt/4", "4", true}, // to itself: where it leads cannot be known
		{"ckpt/4", "3", false},
		{"ckpt/3/newest", "../3/state", false},
		{"ckpt/4", "gone", false},
		{"ckpt/4", "../../gone", true},
	} {
		dir, _ := tree(t, map[string]string{c.link: c.to})
		err := Check(dir)
		if errors.As(err, new(*LinkError)) != c.leads || !c.leads && err != nil {
			t.Errorf("%s → %s: %v", c.link, c.to, err)
		}
		if list, err := Links(dir); err != nil || !slices.Equal(list, []string{c.link}) {
			t.Errorf("links %v, %v", list, err)
		}
		if err := Below(dir, filepath.Join(dir, filepath.FromSlash(c.link))); !errors.As(err, new(*LinkError)) {
			t.Errorf("below: %s → %s: %v", c.link, c.to, err)
		}
	}
	dir, _ := tree(t, nil)
	must(t, Check(dir), Check(filepath.Join(dir, "missing")), Below(dir, filepath.Join(dir, "ckpt", "3", "state")))
	link := dir + "-link"
	must(t, os.Symlink(dir, link))
	if err := Check(link); !errors.As(err, new(*LinkError)) {
		t.Errorf("the folder is a link: %v", err)
	}
	if root, err := OpenRoot(link); !errors.As(err, new(*LinkError)) {
		t.Errorf("opening a folder that is a link: %v, %v", root, err)
	}
}

// TestOpenFollowsNoLink: neither reading nor writing, whatever the flags, and a new file is made whole.
func TestOpenFollowsNoLink(t *testing.T) {
	dir, secret := tree(t, map[string]string{"lock": "../secret", "inner": "ckpt/3/state", "dangling": "../new"})
	for _, name := range []string{"lock", "inner", "dangling"} {
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
			if f, err := Open(dir, name, flag, 0o666); !errors.As(err, new(*LinkError)) {
				t.Errorf("%s, flags %#x: %v, %v", name, flag, f, err)
			}
		}
	}
	if f, err := Open(dir, "ckpt", os.O_RDONLY, 0); !errors.As(err, new(*inputfile.KindError)) {
		t.Errorf("a folder: %v, %v", f, err)
	}
	for _, text := range []string{"a longer text", "short"} {
		f, err := Open(dir, "new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		must(t, err)
		_, err = io.WriteString(f, text)
		must(t, err, f.Close())
		if got, err := os.ReadFile(filepath.Join(dir, "new")); string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got, err := os.ReadFile(secret); string(got) != "secret" {
		t.Errorf("the file behind the links: %q, %v", got, err)
	}
}

// TestTopNamesTheLinesThatAllowALink: the error has the lines, they allow this link, and no other.
func TestTopNamesTheLinesThatAllowALink(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("HOME", config)
	file, err := allowedFile()
	must(t, err)
	dir, _ := tree(t, map[string]string{"runs": "../secret", "notes": "../secret"})
	must(t, Top(dir, "queue"), Top(filepath.Join(dir, "missing"), "runs"))
	err = Top(dir, "runs", "queue")
	if !errors.As(err, new(*LinkError)) || !strings.Contains(err.Error(), file) {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(err.Error(), file+":\n")
	must(t, os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(lines), 0o666))
	must(t, Top(dir, "runs", "queue"))
	if err := Top(dir, "notes"); !errors.As(err, new(*LinkError)) {
		t.Errorf("another link to the same file: %v", err)
	}
	must(t, os.Remove(filepath.Join(dir, "runs")), os.Symlink("ckpt", filepath.Join(dir, "runs")))
	if err := Top(dir, "runs"); !errors.As(err, new(*LinkError)) {
		t.Errorf("the same link to another place: %v", err)
	}
	must(t, os.WriteFile(file, []byte("[[link"), 0o666))
	if err := Top(dir, "runs"); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file of links that cannot be read: %v", err)
	}
}
