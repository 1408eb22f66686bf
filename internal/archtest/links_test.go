package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// link is the target of a link or picture of a page, without a title.
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// fenced is a block of code, in which # begins a comment; code is that or code within a line. Brackets are not links there.
	fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	code   = regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`\n]*`")
	// mention is a page of docs that code or another file names.
	mention = regexp.MustCompile(`\bdocs/[\w./-]+\.md\b`)
	// notInAnchors is what GitHub leaves out of a heading when it makes an anchor of it.
	notInAnchors = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_ -]`)
)

// TestLinksLead follows every relative link of every page, to the file and to the heading in it, looks for every page that another
// file names, and wants a link to every page of docs.
func TestLinksLead(t *testing.T) {
	root := filepath.Join("..", "..")
	links, mentions := 0, 0
	linked := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "testdata" || e.Name() == "node_modules"):
			return fs.SkipDir
		case e.IsDir() || !slices.Contains([]string{".md", ".go", ".py", ".sh", ".toml", ".html"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, page := range mention.FindAllString(string(text), -1) {
			mentions++
			if _, err := os.Stat(filepath.Join(root, page)); err != nil {
				t.Errorf("%s names %s, which is not there", path, page)
			}
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			if target := found[1]; !strings.Contains(target, "://") {
				links++
				linked[follow(t, path, target)] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*.md", "internal/*.md", "internal/*/*.md"} {
		pages, err := filepath.Glob(filepath.Join(root, "docs", pattern))
		if err != nil || len(pages) == 0 {
			t.Fatal(pattern, err)
		}
		for _, page := range pages {
			if !linked[page] {
				t.Errorf("no page links to %s", page)
			}
		}
	}
	if links < 60 || mentions < 20 {
		t.Fatalf("only %d links and %d names of pages were found: the expressions of this test are out of date", links, mentions)
	}
}

// follow opens what a link of a page leads to, looks for its anchor and returns the file, or nothing if that is the page itself.
func follow(t *testing.T, page, target string) string {
	name, anchor, _ := strings.Cut(target, "#")
	file := page
	if name != "" {
		file = filepath.Join(filepath.Dir(page), name)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("%s links to %s, which is not there", page, target)
		return ""
	}
	if anchor != "" {
		wantAnchor(t, page, target, file, anchor)
	}
	if file == page {
		return ""
	}
	return file
}

func wantAnchor(t *testing.T, page, target, file, anchor string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Errorf("%s links to %s: %v", page, target, err)
	} else if have := anchors(string(text)); !slices.Contains(have, anchor) {
		t.Errorf("%s links to %s; the headings there are %v", page, target, have)
	}
}

// anchors are the headings of a page as GitHub writes them behind a #.
func anchors(text string) []string {
	var all []string
	for line := range strings.Lines(fenced.ReplaceAllString(text, "")) {
		if heading := strings.TrimLeft(line, "#"); heading != line && strings.HasPrefix(heading, " ") {
			name := notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			all = append(all, strings.ReplaceAll(name, " ", "-"))
		}
	}
	return all
}

func TestAnchors(t *testing.T) {
	page := "# A `b`: c, d\n\ntext # no heading\n\n```\n# in code\n```\n\n## Größe, 2.5-mal (x)\n"
	if got, want := strings.Join(anchors(page), " "), "a-b-c-d größe-25-mal-x"; got != want {
		t.Errorf("anchors %q, want %q", got, want)
	}
}

// namedFile is a path in backticks, with folders and an extension.
var namedFile = regexp.MustCompile("`((?:[\\w-]+/)+[\\w.-]+\\.(?:go|py|js|md|toml|sh))`")

// TestFilesOfTheArchitectureAreThere: a reader is sent to no file that has been moved.
func TestFilesOfTheArchitectureAreThere(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "internal", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := namedFile.FindAllStringSubmatch(string(text), -1)
	if len(named) < 50 {
		t.Errorf("%d files are named: are they found?", len(named))
	}
	for _, m := range named {
		if _, err := os.Stat(filepath.Join("..", "..", m[1])); err != nil {
			t.Errorf("architecture.md names %s: %v", m[1], err)
		}
	}
}
