package outfile

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHostileLists: a list that comes with a folder reaches nothing outside, nothing hidden and nothing behind a link.
func TestHostileLists(t *testing.T) {
	line := func(name string) string { return fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte("precious")), name) }
	for text, words := range map[string]string{
		header + "a page\n" + line("../victim"):                                     "not a list",
		header + "a page\n" + line("sub/../../victim"):                              "not a list",
		header + "a page\n" + line("/victim"):                                       "not a list",
		header + "a page\n" + line(".git/HEAD"):                                     "not a list",
		header + "a page\n" + line("a/.x"):                                          "not a list",
		header + "a page\n" + line(""):                                              "not a list",
		header + "a page\n" + "0123  index.html":                                    "not a list",
		header + "a page\n" + fmt.Sprintf("%xzz  index.html\n", sha256.Sum256(nil)): "not a list",
		line("index.html"):                                                          "not a list",
		"":                                                                          "not a list",
		header + strings.Repeat("x", 999) + "\n":                                    "holds xxx",
		header + "results of recipes\n" + line("paper"):                             "holds results of recipes, and not a page",
		header + "a page\n" + line("link/victim"):                                   "",
		header + "a page\n" + line("to-victim"):                                     "",
	} {
		above := t.TempDir()
		dir := filepath.Join(above, "out")
		plant(t, above, files{"victim": "precious", "out/.git/HEAD": "precious", "out/a/.x": "precious", "out/paper": "precious", "out/" + ListName: text})
		link(t, "..", filepath.Join(dir, "link"))
		link(t, "../victim", filepath.Join(dir, "to-victim"))
		before := snapshot(t, above)
		err := writePage(t.Context(), dir, files{"index.html": "new"})
		if words == "" && err != nil || words != "" && (err == nil || !strings.Contains(err.Error(), words) || len(err.Error()) > 600) {
			t.Errorf("%q: %v, want %q", text, err, words)
		}
		if err == nil {
			before["out/index.html"], before["out/"+ListName] = "new", snapshot(t, dir)[ListName]
		}
		same(t, above, before)
	}
}

// FuzzFolderList: whatever a list says, its names stay in the folder, and the list that is written again reads the same.
func FuzzFolderList(f *testing.F) {
	f.Add([]byte(header + "a page\n" + strings.Repeat("0a", 32) + "  figures/a.svg\n"))
	f.Add([]byte(header + "x\r\n" + strings.Repeat("FF", 32) + "  ../a\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, kind, err := parseList(text)
		if err != nil {
			return
		}
		for name := range l {
			if !filepath.IsLocal(name) || strings.HasPrefix(filepath.Base(name), ".") || strings.HasPrefix(name, ".") {
				t.Errorf("the list has %q", name)
			}
		}
		again, kept, err := parseList(l.text(kind))
		if err != nil || kept != kind || !maps.EqualFunc(l, again, slices.Equal) {
			t.Errorf("%q became %q: %v", l, again, err)
		}
	})
}
