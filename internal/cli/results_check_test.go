package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"collapse.example/collapse/internal/results"
)

// TestResultsAreMadeAgainFromTheirRows: everything that the folder of the papers' own size says follows from the rows beside it, where no images are;
// a number that somebody changed is named.
func TestResultsAreMadeAgainFromTheirRows(t *testing.T) {
	t.Setenv("COLLAPSE_DATA", "")
	dir := filepath.Join(t.TempDir(), "paper")
	if err := os.CopyFS(dir, os.DirFS("../../docs/results/paper")); err != nil {
		t.Fatal(err)
	}
	out, _ := called(t, exitOK, "results", "--check", dir, "--json")
	var audit results.Audit
	if err := json.Unmarshal([]byte(out), &audit); err != nil {
		t.Fatal(err)
	}
	if audit.FromRows != 1 || audit.Numbers < 40 || len(audit.Different) != 0 {
		t.Errorf("%+v", audit)
	}
	name := filepath.Join(dir, "md-fig1.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile(`"x":\[[0-9.]+`).FindString(string(text))
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), first, `"x":[17`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, said := called(t, exitFailed, "results", "--check", dir)
	if !strings.Contains(out, "md-fig1: figures[0].panels[0].series[0].x[0] is 17; the rows give "+strings.TrimPrefix(first, `"x":[`)) || !strings.Contains(said, "1 difference") {
		t.Errorf("%s\n%s", out, said)
	}
	if err := os.RemoveAll(filepath.Join(dir, results.RowsName)); err != nil {
		t.Fatal(err)
	}
	if out, _ := called(t, exitOK, "results", "--check", dir); strings.Contains(out, "rows") {
		t.Errorf("without rows: %s", out)
	}
}
