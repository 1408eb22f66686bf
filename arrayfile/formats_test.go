package arrayfile

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFormatsAreDocumented: users are told of every format, and no ending stands for two.
func TestFormatsAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "measuring.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| format | what is read |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for i, ending := range Endings() {
		if slices.Index(Endings(), ending) != i {
			t.Errorf("two formats end in %s", ending)
		}
	}
	told := regexp.MustCompile("`(\\.[a-z0-9]+)`").FindAllString(table, -1)
	for _, f := range fileFormats {
		if f.endings != nil && !slices.Contains(told, "`"+f.endings[0]+"`") {
			t.Errorf("the table of docs/measuring.md needs a row: | `%s` | what is read |", strings.Join(f.endings, "`, `"))
		}
	}
	for _, ending := range told {
		if ending = strings.Trim(ending, "`"); !slices.Contains(Endings(), ending) && ending != ".index" {
			t.Errorf("docs/measuring.md promises %s, which no format has", ending)
		}
	}
	if want := ".npy, .npz, .pt, "; !strings.HasPrefix(Formats(), want) || !strings.HasSuffix(Formats(), " and .csv") {
		t.Errorf("formats in words: %s", Formats())
	}
}
