package archtest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

//go:generate ../../scripts/theory.sh

// formula is one of GitHub's: within a line, or a block.
var formula = regexp.MustCompile(`(?s)\$\$.+?\$\$|\$[^$\n]+\$`)

// TestTypesetTheoryIsOfToday: docs/theory.html is made of docs/theory.md as it is now, with every formula as MathML, and runs nothing.
func TestTypesetTheoryIsOfToday(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	source, page := read("theory.md"), read("theory.html")
	if of := fmt.Sprintf(`<meta name="made-from" content="%x">`, sha256.Sum256([]byte(source+read("theory.css")))); !strings.Contains(page, of) {
		t.Error("docs/theory.html is of another docs/theory.md or theory.css; go generate ./internal/archtest makes it anew, with pandoc")
	}
	if want, got := len(formula.FindAllString(source, -1)), strings.Count(page, "<math "); got != want || want < 20 {
		t.Errorf("%d formulas in theory.md, %d in theory.html", want, got)
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "$") {
		t.Error("theory.html has a script, or a formula that is not typeset")
	}
}
