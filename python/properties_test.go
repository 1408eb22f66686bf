package python

import (
	"os"
	"strings"
	"testing"

	"collapse.example/collapse/measure"
)

// TestPropertiesAreThoseOfTheProgram: Python shows the same measures as NC1 to NC4, under the same words.
func TestPropertiesAreThoseOfTheProgram(t *testing.T) {
	text, err := os.ReadFile("collapse/result.py")
	if err != nil {
		t.Fatal(err)
	}
	var keys, words []string
	for _, p := range measure.Properties() {
		keys = append(keys, `"`+p.Name+`": "`+p.Key+`"`)
		words = append(words, `"`+p.Name+`": "`+p.Short+`"`)
	}
	for name, want := range map[string][]string{"PROPERTIES": keys, "_WORDS": words} {
		if line := "\n" + name + " = {" + strings.Join(want, ", ") + "}\n"; !strings.Contains(string(text), line) {
			t.Errorf("result.py lacks the line %s", line)
		}
	}
}
