package featurefiles

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"collapse.example/collapse/internal/featurefiles/decisiontest"
	"collapse.example/collapse/measure"
)

// TestDecisions takes the table of labels through files, as `collapse measure FILE` reads them.
func TestDecisions(t *testing.T) {
	for _, d := range decisiontest.All(t) {
		path := filepath.Join(t.TempDir(), "net.npz")
		if err := os.WriteFile(path, d.NPZ(t), 0o644); err != nil {
			t.Fatal(err)
		}
		req := Request{Files: []string{path}, IgnoreLabels: d.Ignored()}
		req.ClassNames, req.Classes = d.Given()
		k, names, accuracy, err := decided(req)
		d.Check(t, k, names, accuracy, err)
	}
}

var update = flag.Bool("update", false, "write the table of labels in docs/measuring.md anew")

// TestDecisionsAreDocumented: docs/measuring.md has the table.
func TestDecisionsAreDocumented(t *testing.T) {
	const (
		document = "../../docs/measuring.md"
		begins   = "<!-- written by: go test ./internal/featurefiles -run Documented -update -->\n"
		ends     = "<!-- end of what is written -->\n"
	)
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begins)
	written, after, closed := strings.Cut(rest, ends)
	want := decisiontest.Markdown(decisiontest.All(t))
	if !found || !closed {
		t.Fatalf("%s has no place for the table", document)
	}
	if *update {
		if err := os.WriteFile(document, []byte(before+begins+want+ends+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if written != want {
		t.Errorf("%s has another table; write it with -update", document)
	}
}

// decided returns the measured classes, their names and the accuracy.
func decided(req Request) (k int, names []string, accuracy float64, err error) {
	set, err := Open(req)
	if err != nil {
		return 0, nil, 0, err
	}
	defer set.Close()
	r, err := set.Measure(0, measure.Options{})
	if err != nil {
		return 0, nil, 0, err
	}
	if set.Values != nil && len(set.Values) != set.K {
		return 0, nil, 0, fmt.Errorf("%d names of %d classes", len(set.Values), set.K)
	}
	for c := range r.K {
		if r.Classes != nil {
			c = r.Classes[c]
		}
		switch {
		case set.Values != nil:
			names = append(names, set.Values[c])
		case r.Classes != nil:
			names = append(names, strconv.Itoa(c))
		}
	}
	accuracy, _ = r.Value(measure.KeyAccuracy)
	return r.K, names, accuracy, nil
}
