package study

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestManyProblemsAreToldInPart: of a long grid of impossible values the first are told, in a moment, and that there are more.
func TestManyProblemsAreToldInPart(t *testing.T) {
	for n, more := range map[int]bool{mostProblems: false, 50_000: true} {
		var values []string
		for i := range n {
			values = append(values, fmt.Sprintf("-0.%06d", i+1))
		}
		text := "[study]\nname = \"x\"\n[base]\ndata = { name = \"glyphs\" }\n[grid]\n\"optim.lr\" = [" + strings.Join(values, ", ") + "]\n"
		_, err := ParseFile("x.toml", []byte(text), nil, 0)
		var bad *FileError
		if !errors.As(err, &bad) || len(bad.Problems) > mostProblems+1 {
			t.Fatalf("%d values: %.500v", n, err)
		}
		lines := strings.Split(err.Error(), "\n")
		if told := len(lines) - map[bool]int{true: 1}[more]; told != mostProblems || strings.HasSuffix(lines[len(lines)-1], "and more") != more {
			t.Errorf("%d values: %d lines, the last is %q", n, len(lines), lines[len(lines)-1])
		}
	}
}
