package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStatusSaysWhatIsWrong: workers that wait, and what was set aside, as a coordinator leaves it beside the lab.
func TestStatusSaysWhatIsWrong(t *testing.T) {
	_, lab := finishedStudy(t)
	if out, _ := called(t, 0, "--lab", lab, "study", "status", "tiny"); strings.Contains(out, "waits") || strings.Contains(out, "set aside") {
		t.Errorf("nothing is wrong:\n%s", out)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(lab, "queue.health"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	health := func(at time.Time) string {
		return `{"time":"` + at.UTC().Format(time.RFC3339) + `","stuck":true,"waiting":[{"worker":"node7/12","why":"disk full at /scratch","since":"2026-01-02T03:04:05Z"}],
			"unusable":{"count":1234,"last":[{"time":"2026-01-02T03:04:05Z","what":"a message on collapse.res.bad%id","why":"names no job","bytes":7}]}}`
	}
	write(health(time.Now()))
	out, _ := called(t, 0, "--lab", lab, "study", "status", "tiny")
	for _, want := range []string{"worker node7/12: waits: disk full at /scratch", "no worker can continue", "1234 messages", "collapse.res.bad%id, 7 bytes: names no job"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	var got struct {
		Study    string
		Unusable struct{ Count int }
		Waiting  []struct{ Worker, Why string }
		Stuck    bool
	}
	out, _ = called(t, 0, "--lab", lab, "--json", "study", "status", "tiny")
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Unusable.Count != 1234 || len(got.Waiting) != 1 || got.Waiting[0].Why != "disk full at /scratch" || !got.Stuck {
		t.Errorf("%+v, %v:\n%s", got, err, out)
	}
	write(health(time.Now().Add(-time.Hour))) // nobody knows what the workers do now
	if out, _ := called(t, 0, "--lab", lab, "study", "status", "tiny"); strings.Contains(out, "waits") || !strings.Contains(out, "1234 messages") {
		t.Errorf("an hour later:\n%s", out)
	}
	for _, damaged := range []string{"{", "[]", strings.Repeat("x", 2<<20)} {
		write(damaged)
		out, errs := called(t, 0, "--lab", lab, "study", "status", "tiny")
		if !strings.Contains(errs, "queue.health") || !strings.Contains(out, "done") {
			t.Errorf("%.10s: %s%s", damaged, out, errs)
		}
	}
}
