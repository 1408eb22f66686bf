package page

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/store"
)

// TestALargeGridHasOneMap: a section for each of many settings would be thousands of files; they get a map instead, with the mean over
// seeds of each pair of settings in its place.
func TestALargeGridHasOneMap(t *testing.T) {
	const as, bs = 7, 5
	var runs []judge.Run
	for i := range as * bs * 2 {
		a, b, seed := i%as+1, i/as%bs+1, i/(as*bs)
		row := store.Run{Hash: fmt.Sprintf("%064x", i+1), Kind: store.Script, Status: store.Done, HasEpochs: true, LastEpoch: 2,
			Config: []byte(fmt.Sprintf(`{"a":%d,"b":%d,"run":{"epochs":2,"horizon":2,"seed":%d},"trainer":{"command":["x.py"]}}`, a, b, seed))}
		run, err := judge.NewRun(row, []store.Value{
			{Key: store.Key{Series: "epoch", Split: "val", Measure: "f1"}, Step: 1, Value: 7},
			{Key: store.Key{Series: "epoch", Split: "val", Measure: "f1"}, Step: 2, Value: float64(10*a+b) + float64(seed)}})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	late := runs[0] // under way, and at another epoch: not in a mean
	late.Hash, late.Status, late.LastEpoch = fmt.Sprintf("%064x", 1<<20), store.Running, 1
	late, err := judge.NewRun(late.Run, []store.Value{{Key: store.Key{Series: "epoch", Split: "val", Measure: "f1"}, Step: 1, Value: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	runs = append(runs, late)
	dir := filepath.Join(t.TempDir(), "page")
	res, err := WriteStudy(outfile.At(dir, Kind), findings.Study{Runs: runs})
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	if err := filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if !e.IsDir() {
			files++
		}
		return err
	}); err != nil || files > 12 {
		t.Errorf("%d files, %v", files, err)
	}
	html, err := os.ReadFile(res.Index)
	if err != nil {
		t.Fatal(err)
	}
	_, side, _ := strings.Cut(string(html), "The settings side by side")
	side, _, found := strings.Cut(side, "</table>")
	if !found || strings.Count(side, "<tr><td>") != as*bs || !strings.Contains(side, ">val/f1<") || strings.Contains(string(html), "degenerate") || strings.Contains(string(html), "No arithmetic") {
		t.Errorf("the settings side by side: %.2000s", side)
	}
	lines, err := os.ReadFile(filepath.Join(dir, "tables", "1.csv"))
	if err != nil || strings.Count(string(lines), "\n") != 1+as*bs || !strings.Contains(string(lines), "\n7,5,val/f1,75.5,") {
		t.Errorf("%s, %v", lines, err)
	}
	table, err := os.ReadFile(filepath.Join(dir, "figures", "settings.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"11.5", "75.5", "32.5"} { // 10 a + b + ½
		if n := strings.Count(string(table), ","+value+",,\n"); n != 1 {
			t.Errorf("the map has %s %d times:\n%s", value, n, table)
		}
	}
}
