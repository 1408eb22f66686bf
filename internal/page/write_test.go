package page

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/outfile"
)

func TestSameStudySameBytes(t *testing.T) {
	_, a := pageOf(t, studied(t))
	_, b := pageOf(t, studied(t))
	if a != b {
		t.Error("the same study gave two different pages")
	}
	WithSmallPictures(t)
	m := judgetest.Common()
	one := findings.Study{Runs: []judge.Run{m.Run(t, "ce", 0.1, 1)}}
	x, _ := writeStudy(t, one)
	y, _ := writeStudy(t, one)
	for i := range x.Figures {
		for _, ext := range []string{".svg", ".png", ".csv", ".json"} {
			p, errP := os.ReadFile(x.Figures[i] + ext)
			q, errQ := os.ReadFile(y.Figures[i] + ext)
			if errP != nil || errQ != nil || !bytes.Equal(p, q) {
				t.Errorf("%s differs from itself", x.Figures[i]+ext)
			}
		}
	}
}

func TestWriteSaysWhereItFailed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteStudy(outfile.At(file, Kind), findings.Study{}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("writing into a file: %v", err)
	}
}

func TestPageSaysWhyThereAreNoFeatures(t *testing.T) {
	r := judgetest.Common().Run(t, "ls", 0.1, 7)
	r.SetFeatures(nil, "features.npz: weight is missing")
	if _, html := pageOf(t, findings.Study{Runs: []judge.Run{r}}); !strings.Contains(html, "No features to draw") || !strings.Contains(html, r.NoFeatures()) {
		t.Error("the page does not say so")
	}
}
