package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/store"
)

func TestCompletionKnowsNames(t *testing.T) {
	lab, hash := smallLab(t)
	model := tree(t).Model
	for _, c := range []struct {
		words string // blanks between; an underscore stands for an empty word
		want  []string
	}{
		{"runs show " + hash[:3], []string{hash[:12]}},
		{"runs rm " + hash[:12] + " " + hash[:3], []string{hash[:12]}},
		{"report " + hash[:3], []string{hash[:12]}},
		{"train --resume " + hash[:3], []string{hash[:12]}},
		{"study status sm", []string{"smoothing"}},
		{"export smo", []string{"smoothing"}},
		{"study run smo", []string{"smoothing"}},
		{"reproduce tb-fig1", []string{"tb-fig1", "tb-fig10"}},
		{"reproduce --scale _", []string{"paper", "quick", "standard"}},
		{"measure --measures nc1", []string{"nc1_pinv", "nc1_trace_ratio"}},
		{"measure --measures nc4_bias,nc1", []string{"nc4_bias,nc1_pinv", "nc4_bias,nc1_trace_ratio"}},
		{"train --set optim.ki", []string{"optim.kind="}},
		{"train --set optim.kind=", []string{"optim.kind=adam", "optim.kind=lbfgs", "optim.kind=sgd"}},
		{"train --set optim.kind = ad", []string{"adam"}}, // as bash asks
		{"train --net vgg13", []string{"vgg13", "vgg13-bn"}},
		{"train --net=vgg13", []string{"--net=vgg13", "--net=vgg13-bn"}},
		{"train --setting zhu-sg", []string{"zhu-sgd"}},
		{"dilation --law cir", []string{"circle"}},
		{"solve lin", []string{"linear3"}},
		{"solve mo", []string{"model"}},
		{"solve --threads 1 mo", []string{"model"}},
		{"solve mse --optimizer lb", []string{"lbfgs"}},
		{"solve model mse --optimizer lb", []string{"lbfgs"}},
		{"solve mse --smooth", []string{"--smoothing"}},
		{"solve --optimizer _", []string{"auto", "gd", "lbfgs", "momentum"}},
		{"data get cifar-10", []string{"cifar-10", "cifar-100"}},
		{"help stu", []string{"study"}},
		{"runs show x _", []string{}}, // one run
	} {
		words := append([]string{"--", "--lab", lab}, strings.Fields(c.words)...)
		if last := &words[len(words)-1]; *last == "_" {
			*last = ""
		}
		if got := candidates(model, words); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.words, got, c.want)
		}
	}
}

// smallLab has a study of one run.
func smallLab(t *testing.T) (dir, hash string) {
	t.Helper()
	dir = t.TempDir()
	lab := openLab(t, dir)
	defer lab.Close()
	spec := store.Spec{Kind: store.Train, Config: map[string]any{"run": map[string]any{"epochs": 3}}}
	if err := lab.SaveStudy("smoothing", "", "", []store.Member{{Spec: spec, Note: "x", Payload: "y"}}); err != nil {
		t.Fatal(err)
	}
	c, _, err := lab.Lease(spec)
	if err != nil {
		t.Fatal(err)
	}
	return dir, c.Hash
}

// TestCompletionIsQuietAndFast asks on folders that hold no lab, or a broken one.
func TestCompletionIsQuietAndFast(t *testing.T) {
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "lab.sqlite"), []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, lab := range []string{filepath.Join(t.TempDir(), "none"), broken} {
		began := time.Now()
		stdout, stderr := called(t, exitOK, "completion", "words", "--", "--lab", lab, "runs", "show", "")
		if stdout != "" || stderr != "" || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %q, %q after %v", lab, stdout, stderr, time.Since(began))
		}
		if _, err := os.Stat(filepath.Join(lab, "lab.sqlite-wal")); err == nil {
			t.Errorf("%s was written to", lab)
		}
	}
}
