package figure

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/judge/judgetest"
)

// TestAFilmKeepsItsAxes draws two epochs of four classes in six dimensions: the class means of both lie as far from each other as
// in the feature space, seen along the same three axes.
func TestAFilmKeepsItsAxes(t *testing.T) {
	dir := t.TempDir()
	judgetest.WriteFrame(t, dir, 2, 4, 6, 1, 0.3)
	judgetest.WriteFrame(t, dir, 10, 4, 6, 3, 0.1)
	film, err := OpenFilm(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !film.Whole() || len(film.Epochs) != 2 || film.Nearest(5) != 2 || film.Nearest(99) != 10 {
		t.Errorf("epochs %v, nearest to 5 is %d", film.Epochs, film.Nearest(5))
	}
	for epoch, size := range map[int64]float64{2: 1, 10: 3} {
		pictures, err := film.Pictures(epoch)
		if err != nil {
			t.Fatal(err)
		}
		if len(pictures) != 3 || pictures[0].ID != "features" || pictures[1].ID != "gram" || pictures[2].ID != "margins" {
			t.Fatalf("epoch %d has %d pictures", epoch, len(pictures))
		}
		panel := pictures[0].Panels[0]
		means := panel.Series[len(panel.Series)-1]
		if len(means.X) != 4 || len(means.Z) != 4 || len(pictures[0].Panels) != 2 {
			t.Fatalf("epoch %d: %d means, %d with a third coordinate", epoch, len(means.X), len(means.Z))
		}
		for i := range 4 {
			for j := range i {
				// Four means of an orthogonal frame span three dimensions around their centre: nothing is lost.
				got := math.Hypot(math.Hypot(means.X[i]-means.X[j], means.Y[i]-means.Y[j]), means.Z[i]-means.Z[j])
				if want := size * math.Sqrt2; !(math.Abs(got-want) <= 1e-6*want) {
					t.Errorf("epoch %d: means %d and %d are %g apart, want %g", epoch, i, j, got, want)
				}
			}
		}
		if wrong := panel.Series[len(panel.Series)-2]; !strings.HasPrefix(wrong.ID, "mislabelled-") || len(wrong.X) != 1 || wrong.Label == "" || wrong.Color != ofClass(panel, wrong.ID) {
			t.Errorf("epoch %d: %s has %d points in colour %d, want the one mislabelled sample in its class's colour", epoch, wrong.ID, len(wrong.X), wrong.Color)
		}
		heat := pictures[1].Panels[0].Series[0].Heat
		for i, z := range heat.Z {
			want := -1.0 / 3
			if i%5 == 0 {
				want = 1
			}
			if !(math.Abs(z-want) <= 1e-6) {
				t.Errorf("epoch %d: cosine %d is %g, want %g", epoch, i, z, want)
			}
		}
	}
}

func TestAFilmSaysWhatIsWrong(t *testing.T) {
	if _, err := OpenFilm(t.TempDir()); err == nil || !strings.Contains(err.Error(), "saved no features") {
		t.Errorf("an empty folder: %v", err)
	}
	dir := t.TempDir()
	judgetest.WriteFrame(t, dir, 1, 3, 3, 1, 0.1)
	judgetest.WriteFrame(t, dir, 2, 4, 6, 1, 0.1)
	if _, err := OpenFilm(dir); err == nil || !strings.Contains(err.Error(), "epoch 1") {
		t.Errorf("frames that disagree: %v", err)
	}
	for name, text := range map[string]string{"no archive": "hello", "empty": ""} {
		dir := t.TempDir()
		judgetest.WriteFrame(t, dir, 1, 3, 3, 1, 0.1)
		if err := os.WriteFile(filepath.Join(dir, "frames", "2.npz"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenFilm(dir); err == nil || !strings.Contains(err.Error(), "epoch 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ofClass is the colour of the class whose mislabelled samples have an ID.
func ofClass(p chart.Panel, id string) chart.Color {
	for _, s := range p.Series {
		if s.ID == "class-"+strings.TrimPrefix(id, "mislabelled-") {
			return s.Color
		}
	}
	return -1
}
