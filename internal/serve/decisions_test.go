package serve

import (
	"regexp"
	"strings"
	"testing"

	"collapse.example/collapse/internal/featurefiles/decisiontest"
)

// TestPageDecides takes the table of labels through the page, which has fields for the names of classes and for ignored labels.
func TestPageDecides(t *testing.T) {
	s := startTest(t, Options{Lab: t.TempDir()})
	for _, d := range decisiontest.All(t) {
		names, k := d.Given()
		if k > 0 { // the page has no field for it
			continue
		}
		answer, body := uploadNamed(t, s, d.NPZ(t), map[string]string{"classes": strings.Join(names, ", "), "ignore": strings.Join(d.Ignored(), ", ")})
		if d.Refused != "" {
			if answer.StatusCode != 400 || !regexp.MustCompile(d.Refused).MatchString(body) || strings.Contains(body, "--") {
				t.Errorf("%s: %d %.600s", d, answer.StatusCode, body)
			}
			continue
		}
		for _, name := range d.Names {
			if answer.StatusCode != 200 || !strings.Contains(body, name) {
				t.Errorf("%s: %d, no %q: %.600s", d, answer.StatusCode, name, body)
			}
		}
	}
}
