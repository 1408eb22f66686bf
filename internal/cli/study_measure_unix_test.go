//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/measure"
)

// featureTrainer gives the features in the file that its setting names at epochs 1 and 2 of 3, those of epoch 1 shifted.
const featureTrainer = `
while [ $# -gt 0 ]; do case $1 in --file) file=$2;; esac; shift 2; done
say() { echo "{\"generation\": $COLLAPSE_GENERATION, $1}" >> "$COLLAPSE_EVENTS"; }
to="${COLLAPSE_EVENTS%/*}/captures"
cp other.npz "$to/1.npz" && say '"epoch": 1, "features": {"train": "captures/1.npz"}'
[ $file = none.npz ] || { cp $file "$to/2.npz" && say '"epoch": 2, "values": {"train/vci": 7}, "features": {"train": "captures/2.npz"}'; }
say '"epoch": 3, "values": {"test/loss": 1}'
say '"done": true'
`

const featureStudy = `
[study]
name = "kept"
[trainer]
command = ["sh", "train.sh"]
epochs = 3
args = "flags"
data = ["*.npz"]
save_features = "KEEP"
[grid]
file = ["a.npz", "b.npz"]
`

// featureFiles writes the trainer, its features and study, and returns the study's file, the lab's name and the features by file.
func featureFiles(t *testing.T, keep string) (file, lab string, h map[string]measure.Input[float64]) {
	t.Helper()
	file, lab = scriptStudy(t, strings.Replace(featureStudy, "KEEP", keep, 1))
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "train.sh"), []byte(featureTrainer), 0o666); err != nil {
		t.Fatal(err)
	}
	const n, d, k = 540, 190, 3 // large enough that numerical_rank is left out while training
	h = map[string]measure.Input[float64]{}
	rng := rand.New(rand.NewPCG(3, 8))
	for _, name := range []string{"a.npz", "b.npz", "other.npz"} {
		rows, labels := make([]float64, n*d), make([]int32, n)
		for i := range labels {
			labels[i] = int32(i % k)
			for j := range d {
				rows[i*d+j] = rng.NormFloat64() + 2*float64((i%k)*(j+1))
			}
		}
		h[name] = measure.Input[float64]{Classes: k, Train: measure.Memory(rows, d, labels)}
		var b bytes.Buffer
		err := arrayfile.WriteNPZ(&b, []arrayfile.Array{arrayfile.Of("features", []int{n, d}, rows), arrayfile.Of("labels", []int{n}, labels)})
		if err == nil {
			err = os.WriteFile(filepath.Join(filepath.Dir(file), name), b.Bytes(), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return file, lab, h
}

// exported are the numbers of a study by "file epoch measure", from its table.
func exported(t *testing.T, lab string) map[string]float64 {
	t.Helper()
	out, _ := called(t, 0, "--lab", lab, "--json", "export", "kept")
	var rows []struct {
		Step    int
		Measure string
		Split   string
		Value   *float64
		File    string
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, r := range rows {
		if r.Value != nil {
			found[strings.Join([]string{r.File, string(rune('0' + r.Step)), r.Split, r.Measure}, " ")] = *r.Value
		}
	}
	return found
}

// TestStudyMeasureOfAScript: measures of features that a script gave come into the lab later, are those of the features, and stand in the
// lists and tables; what the script itself reported stays; a second call changes nothing; what was not kept is named.
func TestStudyMeasureOfAScript(t *testing.T) {
	for keep, epochs := range map[string][]string{"last": {"2"}, "all": {"1", "2"}} {
		file, lab, h := featureFiles(t, keep)
		called(t, 0, "--lab", lab, "study", "run", file)
		before := exported(t, lab)
		out, _ := called(t, 0, "--lab", lab, "--json", "study", "measure", "kept", "--measures", "vci,numerical_rank")
		var did measuredStudy
		if err := json.Unmarshal([]byte(out), &did); err != nil || did.Runs != 2 || did.Added == 0 || len(did.Left) > 0 {
			t.Fatalf("%s: %v", out, err)
		}
		after := exported(t, lab)
		if len(after) != len(before)+did.Added {
			t.Errorf("%s: %d numbers became %d, and %d were added", keep, len(before), len(after), did.Added)
		}
		for name, x := range before {
			if after[name] != x {
				t.Errorf("%s: %s was %v and is %v", keep, name, x, after[name])
			}
		}
		for _, epoch := range epochs {
			for _, name := range []string{"a.npz", "b.npz"} {
				of := name
				if epoch == "1" {
					of = "other.npz"
				}
				report, err := measure.Measure(h[of], measure.Options{Measures: []string{"numerical_rank", "vci"}})
				if err != nil {
					t.Fatal(err)
				}
				for _, key := range []string{"numerical_rank", "vci"} {
					want, ok := report.Measures.Get(key)
					if key == "vci" && epoch == "2" {
						want = 7 // which the script reported
					}
					if got := after[strings.Join([]string{name, epoch, "train", key}, " ")]; !ok || !(math.Abs(got-want) <= 1e-9*math.Abs(want)) || want == 0 {
						t.Errorf("%s, %s: %s of epoch %s is %v; its features' %v", keep, name, key, epoch, got, want)
					}
				}
			}
		}
		if _, early := after["a.npz 1 train numerical_rank"]; early != (keep == "all") || before["a.npz 2 train numerical_rank"] != 0 {
			t.Errorf("%s: epoch 1 was measured later: %v", keep, early)
		}
		if out, _ := called(t, 0, "--lab", lab, "study", "measure", "kept", "--measures", "vci,numerical_rank"); !strings.Contains(out, "kept: 0 values added to 2 runs") {
			t.Error(out)
		}
		out, _ = called(t, 0, "--lab", lab, "--json", "runs", "list")
		hash := regexp.MustCompile(`"run": "([0-9a-f]{64})"`).FindStringSubmatch(out)
		if out, _ = called(t, 0, "--lab", lab, "runs", "show", hash[1]); !regexp.MustCompile(`later +\d+ values? of epoch 2, measured of features on .* by collapse `).MatchString(out) {
			t.Error(out)
		}
		called(t, 0, "--lab", lab, "runs", "check")
	}
	file, lab, _ := featureFiles(t, "none")
	called(t, 0, "--lab", lab, "study", "run", file)
	out, errs := called(t, 1, "--lab", lab, "study", "measure", "kept")
	if !strings.Contains(out, "(file a.npz), ") || !strings.Contains(out, "save_features") || !strings.Contains(errs, "0 of 2 runs of kept were measured") {
		t.Errorf("%s%s", out, errs)
	}
	called(t, 2, "--lab", lab, "study", "measure", "kept", "--measures", "nosuch")
	called(t, 1, "--lab", lab, "study", "measure", "nosuch")
}

// TestStudyMeasureSurvivesKills: killed at any moment and called again, it gives what one undisturbed call gives.
func TestStudyMeasureSurvivesKills(t *testing.T) {
	longtest.Only(t)
	file, lab, _ := featureFiles(t, "all")
	called(t, 0, "--lab", lab, "study", "run", file, "--set", `file=["a.npz", "b.npz", "other.npz"]`)
	copied := filepath.Join(t.TempDir(), "copy")
	called(t, 0, "--lab", lab, "lab", "copy", copied)
	began := time.Now()
	called(t, 0, "--lab", copied, "study", "measure", "kept", "--measures", "numerical_rank")
	whole := time.Since(began)
	want := exported(t, copied)
	leaveHalf(t, copied, lab)
	killed := 0
	for i := range 8 {
		cmd, _, _ := played("--lab", lab, "study", "measure", "kept", "--measures", "numerical_rank")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * whole / 4)
		cmd.Process.Kill()
		if cmd.Wait() != nil {
			killed++
		}
		got := exported(t, lab)
		for name, x := range got {
			if y, ok := want[name]; !ok || x != y {
				t.Errorf("after kill %d %s is %v; undisturbed %v", i, name, x, y)
			}
		}
	}
	called(t, 0, "--lab", lab, "study", "measure", "kept", "--measures", "numerical_rank")
	if got := exported(t, lab); len(got) != len(want) || killed == 0 {
		t.Errorf("%d numbers after %d kills; %d undisturbed", len(got), killed, len(want))
	}
	called(t, 0, "--lab", lab, "runs", "check")
}

// leaveHalf leaves in a lab what a process leaves that ends after the first of a run's two epochs, from a lab that has all.
func leaveHalf(t *testing.T, whole, lab string) {
	t.Helper()
	from, err := store.Open(whole, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := store.Open(lab, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	runs, err := from.StudyRuns("kept")
	if err != nil || len(runs) != 3 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	values, err := from.Values(runs[0].Hash)
	if err != nil {
		t.Fatal(err)
	}
	var first []store.Value
	for _, v := range values {
		if v.Measure == "numerical_rank" && v.Step == 1 && v.Missing == "" {
			first = append(first, v)
		}
	}
	if n, err := to.AddMeasured(runs[0].Hash, first, store.Program{Version: "killed"}, "captures/1.npz"); n == 0 || err != nil {
		t.Fatalf("%d values, %v", n, err)
	}
}

// TestStudyMeasureOfTraining adds what no epoch measures, of the checkpoints that are kept; check finds nothing wrong, and the report has it.
func TestStudyMeasureOfTraining(t *testing.T) {
	file, lab := studyFile(t)
	called(t, 0, "--lab", lab, "study", "run", file, "--seeds", "1")
	out, _ := called(t, 0, "--lab", lab, "--json", "study", "measure", "tiny")
	var did measuredStudy
	if err := json.Unmarshal([]byte(out), &did); err != nil || did.Runs != 2 || did.Added == 0 || len(did.Left) > 0 {
		t.Fatalf("%s: %v", out, err)
	}
	called(t, 0, "--lab", lab, "runs", "check")
	table, _ := called(t, 0, "--lab", lab, "export", "tiny")
	if strings.Count(table, ",feature_rank,") < 2 {
		t.Errorf("%.300s", table)
	}
	called(t, 0, "--lab", lab, "study", "report", "tiny", "--out", filepath.Join(t.TempDir(), "page"))
	if again, _ := called(t, 0, "--lab", lab, "study", "measure", "tiny"); !strings.Contains(again, ": 0 values added to 2 runs") {
		t.Error(again)
	}
}
