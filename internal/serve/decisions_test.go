package serve

import (
	"fmt"
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
		want := append([]string{fmt.Sprintf(", %d classes ", d.K)}, d.Names...)
		if d.Rows > 0 { // each row is taken for the right class
			want = append(want, `<td class="key">accuracy</td><td class="value">1</td>`)
		}
		for _, words := range want {
			if answer.StatusCode != 200 || !strings.Contains(body, words) {
				t.Errorf("%s: %d, no %q: %.600s", d, answer.StatusCode, words, body)
			}
		}
	}
}
