package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// users are the pages of those for whom the program is a tool. What only those read who work on it is in docs/internal, and the tables of
// docs/results are made by the program.
func users(t *testing.T) (pages []string) {
	for _, pattern := range []string{"README.md", "python/README.md", "docs/*.md", "docs/papers/*.md", "docs/gallery/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		pages = append(pages, found...)
	}
	return pages
}

const (
	longest   = 40   // words of a sentence
	shortest  = 5    // what has fewer words is a cell of a table, no sentence
	long      = 30   // and these only seldom:
	longShare = 0.05 // so many of a page's sentences, but always one
)

// TestUsersPagesAreEasyToRead counts the words of every sentence.
func TestUsersPagesAreEasyToRead(t *testing.T) {
	for _, page := range users(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		all, above := 0, []string{}
		for _, s := range sentences(string(text)) {
			n := len(strings.Fields(s))
			if n >= shortest {
				all++
			}
			switch {
			case n > longest:
				t.Errorf("%s: a sentence of %d words, at most %d are wanted: %s", page, n, longest, s)
			case n > long:
				above = append(above, s)
			}
		}
		if len(above) > max(1, int(longShare*float64(all))) {
			t.Errorf("%s: %d of %d sentences have more than %d words; shorten\n%s", page, len(above), all, long, strings.Join(above, "\n"))
		}
	}
}

// TestTheFilmIsLight: README's film is loaded with the page.
func TestTheFilmIsLight(t *testing.T) {
	film, err := os.Stat(filepath.Join("..", "..", "docs", "images", "collapse.gif"))
	if err != nil {
		t.Fatal(err)
	}
	if film.Size() > 1_500_000 {
		t.Errorf("the film has %d bytes, at most 1.5 MB are wanted", film.Size())
	}
}

// tables are those that a test writes.
var tables = regexp.MustCompile(`(?s)<!-- written by.*?<!-- end of what is written -->`)

// TestUsersPagesAreShort: README is read in three minutes, and all pages for users, tables that a test writes apart, in an afternoon.
func TestUsersPagesAreShort(t *testing.T) {
	all := 0
	for _, page := range users(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		n := len(strings.Fields(formula.ReplaceAllString(tables.ReplaceAllString(string(text), ""), "x"))) // a formula is one word
		if all += n; page == filepath.Join("..", "..", "README.md") && n > 600 {
			t.Errorf("README has %d words, at most 600 are wanted", n)
		}
	}
	if all > 22_000 {
		t.Errorf("pages for users have %d words, at most 22,000 are wanted", all)
	}
}

var (
	inline   = regexp.MustCompile("`[^`\n]*`")
	target   = regexp.MustCompile(`!?\[([^]]*)\]\([^)]*\)`)
	sentence = regexp.MustCompile(`[.!?][)*_”"]*(?:\s+|$)`)
	written  = regexp.MustCompile(`(?s)<!-- written.*?<!-- end.*?-->`)
)

// sentences are those of a page: of its paragraphs, of each point of a list, of each cell of a table. Code counts as a word; blocks of
// code, headings and what a program has written into the page do not count.
func sentences(text string) []string {
	text = fenced.ReplaceAllString(written.ReplaceAllString(text, ""), "\n")
	text = target.ReplaceAllString(inline.ReplaceAllString(text, "code"), "$1")
	var pieces []string
	var paragraph strings.Builder
	flush := func() {
		pieces = append(pieces, paragraph.String())
		paragraph.Reset()
	}
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
			flush()
		case strings.HasPrefix(trimmed, "|"):
			flush()
			pieces = append(pieces, strings.Split(trimmed, "|")...)
		case strings.HasPrefix(line, "    ") && paragraph.Len() == 0: // code
		case strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "> "):
			flush()
			fallthrough
		default:
			paragraph.WriteString(trimmed + " ")
		}
	}
	flush()
	var all []string
	for _, piece := range pieces {
		for _, s := range sentence.Split(piece, -1) {
			if s = strings.TrimSpace(s); strings.Trim(s, "-") != "" { // not a rule, nor the line below a table's heading
				all = append(all, s)
			}
		}
	}
	return all
}

func TestSentences(t *testing.T) {
	page := "# A heading. Not counted\n\nOne of `two words`. Two\ngoes on; see [here](x.md).\n\n    code. code.\n\n- a point\n- another: with two\n\n```\nno. no.\n```\n\n| a cell | b. c |\n|---|---|\n"
	got := sentences(page)
	want := []string{"One of code", "Two goes on; see here", "- a point", "- another: with two", "a cell", "b", "c"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
