package featurefiles

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/featurefiles/decisiontest"
	"collapse.example/collapse/measure"
)

// requests are all pairs of features and labels of made, with each classifier, and with each of some other flags.
func requests() (all []string) {
	features := []string{"h.npy", "ht.npy", "d1.npy", "few.npy", "none.npy", "nan.npy", "vector.npy", "deep.npy", "bf16.npy", "s/h*.npy", "wide/h*.npy", "flat.npy", "words.npy"}
	labels := []string{"y.npy", "y19.npy", "y9.npy", "ymin.npy", "yneg.npy", "one.npy", "gap.npy", "mask.npy", "ynone.npy", "onehot.npy", "yfloat.npy", "s/y*.npy", "words.npy", "signs.npy", "far.npy"}
	heads := []string{"", " weights=w.npy", " weights=w.npy bias=b.npy", " weights=wt.npy transpose=", " weights=w7.npy", " weights=w.npy bias=b5.npy", " bias=b.npy", " weights=wnan.npy", " weights=w2.npy"}
	for _, h := range features {
		for _, y := range labels {
			for _, w := range heads {
				all = append(all, "features="+h+" labels="+y+w)
			}
		}
	}
	flags := []string{"classes=4", "classes=2", "classes=5", "class-names=a,b,c,d", "class-names=ant,bee,cat", "class-names=a,b classes=3", "ignore-label=0", "ignore-label=-1", "ignore-label=ant", "ignore-label=x", "transpose-features=",
		"test-features=h.npy", "test-labels=y.npy", "test-features=h.npy test-labels=y.npy", "test-features=h5.npy test-labels=y.npy", "test-features=few.npy test-labels=yfew.npy", "test-features=h.npy test-labels=y9.npy",
		"true-labels=y.npy", "true-labels=y19.npy", "true-labels=gap.npy", "true-labels=ynone.npy", "test-features=h.npy test-labels=ynone.npy", "true-labels=words.npy", "corrupted=mask.npy", "corrupted=one.npy", "ood=h.npy", "ood=h5.npy", "layers=*", "layers=[", "key=h"}
	for _, flag := range flags {
		for _, y := range labels {
			for _, w := range heads[:4] {
				all = append(all, "features=h.npy labels="+y+w+" "+flag)
			}
		}
	}
	return all
}

// pairFiles are made, and some more.
func pairFiles(t *testing.T) string {
	t.Helper()
	arrays := made()
	ints := func(f func(i int) int64) arrayfile.Array {
		v := make([]int64, 20)
		for i := range v {
			v[i] = f(i)
		}
		return arrayfile.Of("", []int{20}, v)
	}
	arrays["signs.npy"] = ints(func(i int) int64 { return int64(i%2*2 - 1) })
	arrays["far.npy"] = ints(func(i int) int64 { return int64(i%3-1) * (1 << 62) * 2 })
	arrays["flat.npy"] = arrayfile.Of("", []int{20, 0}, []float32{})
	bad := slices.Clone(arrays["w.npy"].Data)
	copy(bad[4:], []byte{0, 0, 0xc0, 0x7f}) // a NaN
	arrays["wnan.npy"] = arrayfile.Array{Header: arrays["w.npy"].Header, Data: bad}
	arrays["w2.npy"] = arrayfile.Of("", []int{2, 6}, make([]float32, 12))
	dir := files(t, arrays)
	var words []string
	for i := range 20 {
		words = append(words, []string{"ant", "bee", "cat"}[i%3])
	}
	if err := os.WriteFile(filepath.Join(dir, "words.npy"), decisiontest.NPY("|S3", "20,", text(3, words)), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// found says what a request finds: why it is refused, or the classes, inputs and notes of the set, and the classes and samples of its state.
func found(t *testing.T, dir, request string) (text string, refused bool) {
	t.Helper()
	set, err := Open(asked(dir, request))
	if err != nil {
		return err.Error(), true
	}
	defer set.Close()
	inputs, err := json.Marshal(set.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	text = fmt.Sprintln(set.K, set.TestClasses, set.Values, string(inputs), set.Notes)
	for i, c := range set.Columns {
		text += fmt.Sprintln(c.Name, c.N, c.D, c.Classifier)
		_, measured := set.Measure(i, measure.Options{})
		text += fmt.Sprintln(measured)
		one, err := set.OnePass(i, measure.Options{})
		if err != nil {
			text += fmt.Sprintln(err)
			continue
		}
		text += fmt.Sprintln(one.Moments.K, one.Moments.D, one.Moments.Values, one.Moments.Count, len(one.W), len(one.B), one.left, one.absent)
		if _, err := one.Moments.WriteTo(new(bytes.Buffer)); err != nil {
			text += fmt.Sprintln(err)
		}
	}
	return text, false
}

// origins are requests for the files of other programs.
func origins(t *testing.T) (all []string) {
	t.Helper()
	entries, err := os.ReadDir("testdata/origins")
	if err != nil || len(entries) < 100 {
		t.Fatal(len(entries), err)
	}
	for i, e := range entries {
		file := "file=" + e.Name()
		all = append(all, file, file+" layers=*", file+" ignore-label=1", file+" transpose-features=", file+" transpose=", file+" classes=12", file+" file="+entries[(i+1)%len(entries)].Name(), "features="+e.Name()+" labels="+e.Name())
	}
	return all
}

// TestWhatEveryPairIsCalled asks for all pairs of features and labels, right and wrong, with classifiers and flags. testdata/pairs.txt has a digest of
// all that is said, for each pair of files and each file of another program, and how often each reason is given; whoever changes a line there sees what is now taken, or told otherwise.
func TestWhatEveryPairIsCalled(t *testing.T) {
	dir := pairFiles(t)
	var lines []string
	numbers := regexp.MustCompile(`[0-9]+`)
	said, reasons := map[string][]string{}, map[string]int{}
	for _, request := range requests() {
		text, refused := found(t, dir, request)
		text = filepath.ToSlash(strings.ReplaceAll(text, dir+string(filepath.Separator), ""))
		words := strings.Fields(request)
		pair := words[0] + " " + words[1]
		said[pair] = append(said[pair], request+": "+text)
		reason := "taken"
		if refused {
			reason = numbers.ReplaceAllString(regexp.MustCompile(`[a-z0-9/*]+\.npy`).ReplaceAllString(text, "FILE"), "#")
		}
		reasons[reason]++
	}
	for _, pair := range slices.Sorted(maps.Keys(said)) {
		sum := sha256.Sum256([]byte(strings.Join(said[pair], "\n")))
		lines = append(lines, fmt.Sprintf("%s: %d requests, %x", pair, len(said[pair]), sum[:6]))
	}
	clear(said)
	for _, request := range origins(t) { // each alone, with all its layers, and beside the next
		text, refused := found(t, "testdata/origins", request)
		words := strings.Fields(request)
		said[words[0]] = append(said[words[0]], request+": "+filepath.ToSlash(text))
		if refused {
			text = "refused"
		} else {
			text = "taken"
		}
		reasons["files of other programs "+text]++
	}
	for _, pair := range slices.Sorted(maps.Keys(said)) {
		sum := sha256.Sum256([]byte(strings.Join(said[pair], "\n")))
		lines = append(lines, fmt.Sprintf("%s: %d requests, %x", pair, len(said[pair]), sum[:6]))
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		lines = append(lines, fmt.Sprintf("%d times: %s", reasons[reason], reason))
	}
	const record = "testdata/pairs.txt"
	if *update {
		if err := os.WriteFile(record, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	was := strings.Split(strings.TrimSpace(string(kept)), "\n")
	for _, line := range lines {
		if !slices.Contains(was, line) {
			t.Errorf("new: %s", line)
		}
	}
	for _, line := range was {
		if !slices.Contains(lines, line) {
			t.Errorf("gone: %s (go test ./internal/featurefiles -run EveryPair -update writes %s anew, if that is meant)", line, record)
		}
	}
}
