package serve

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/measure"
)

// featureFile is an npz of three Gaussian classes with a classifier of their means.
func featureFile(t *testing.T) []byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	const n, d, k = 90, 3, 3
	h, y, w := make([]float32, n*d), make([]int64, n), make([]float32, k*d)
	for i := range n {
		y[i] = int64(i % k)
		for j := range d {
			h[i*d+j] = float32(0.05 * rng.NormFloat64())
		}
		h[i*d+int(y[i])]++
	}
	for c := range k {
		w[c*d+c] = 1
	}
	var b bytes.Buffer
	if err := arrayfile.WriteNPZ(&b, []arrayfile.Array{arrayfile.Of("features", []int{n, d}, h), arrayfile.Of("labels", []int{n}, y), arrayfile.Of("weight", []int{k, d}, w)}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// upload posts files as a browser's form does.
func upload(t *testing.T, s *Server, files map[string][]byte) (*http.Response, string) {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for name, data := range files {
		part, err := form.CreateFormFile("file", name)
		if err != nil {
			t.Fatal(err)
		}
		part.Write(data)
	}
	form.Close()
	return whole(t)(http.Post(s.URL()+"measure", form.FormDataContentType(), &b))
}

// ownTemp gives the test a folder of temporary files, to see what is left in it.
func ownTemp(t *testing.T) string {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	return dir
}

func nothingLeft(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestADroppedFileIsMeasuredAndNotKept(t *testing.T) {
	tmp := ownTemp(t)
	s := startTest(t, Options{Lab: t.TempDir()})
	answer, body := upload(t, s, map[string][]byte{"mine.npz": featureFile(t)})
	if answer.StatusCode != 200 || !strings.HasPrefix(answer.Request.URL.Path, "/measure/") {
		t.Fatalf("%d at %s: %.300s", answer.StatusCode, answer.Request.URL, body)
	}
	for _, want := range []string{"<title>mine · collapse</title>", "Measured: mine<", `data-dial="NC1"`, `data-dial="NC3"`, "90 samples of width 3", `data-key="nc1_pinv"`, `data-figure="gram"`, "mine.npz"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	if strings.Contains(body, tmp) {
		t.Error("the page names the folder of temporary files")
	}
	svg, text := get(t, http.DefaultClient, "GET", strings.TrimSuffix(s.URL(), "/")+answer.Request.URL.Path+"/figures/gram.svg", nil)
	if svg.StatusCode != 200 || !strings.HasPrefix(text, "<svg") {
		t.Errorf("its picture: %d", svg.StatusCode)
	}
	nothingLeft(t, tmp)
}

func TestBadUploadsAreRefusedInWords(t *testing.T) {
	tmp := ownTemp(t)
	s := startTest(t, Options{Lab: t.TempDir(), MaxUpload: 1 << 20})
	good := featureFile(t)
	many := map[string][]byte{}
	for i := range mostFiles + 1 {
		many[fmt.Sprintf("f%d.npy", i)] = []byte("x")
	}
	for name, c := range map[string]struct {
		files map[string][]byte
		want  int
		words string
	}{
		"nothing":        {nil, 400, "no file came"},
		"too large":      {map[string][]byte{"x.npz": make([]byte, 2<<20)}, 413, "larger than 1 MiB"},
		"another kind":   {map[string][]byte{"x.html": []byte("<script>alert(1)</script>")}, 400, "cannot be measured"},
		"a lie":          {map[string][]byte{"x.npz": []byte("PK\x03\x04 not really")}, 400, "x.npz"},
		"cut":            {map[string][]byte{"x.npz": good[:len(good)/2]}, 400, "x.npz"},
		"a bomb":         {map[string][]byte{"x.npy": []byte("\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (999999999, 999999999), }" + strings.Repeat(" ", 40) + "\n")}, 400, "x.npy"},
		"a pickle":       {map[string][]byte{"x.pt": []byte("\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7fcos\nsystem\n.")}, 400, "x.pt"},
		"too many":       {many, 400, "at most 16 files"},
		"a folder above": {map[string][]byte{"../../../../etc/cron.d/x.npz": good}, 200, ""}, // its base name is all that counts
		"a long name":    {map[string][]byte{strings.Repeat("n", 300) + ".npz": good}, 400, "cannot be measured"},
	} {
		answer, body := upload(t, s, c.files)
		if answer.StatusCode != c.want || !strings.Contains(body, c.words) || strings.Contains(body, tmp) {
			t.Errorf("%s: %d %.300s; want %d with %q", name, answer.StatusCode, body, c.want, c.words)
		}
		nothingLeft(t, tmp)
	}
	for kind, body := range map[string]string{"text/plain": "x", "multipart/form-data": "x", "multipart/form-data; boundary=b": "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.npz\"\r\n\r\nends here"} {
		answer, err := http.Post(s.URL()+"measure", kind, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != 400 {
			t.Errorf("a broken form of type %s: %d", kind, answer.StatusCode)
		}
		nothingLeft(t, tmp)
	}
	if _, err := os.Stat("/etc/cron.d/x.npz"); err == nil {
		t.Error("the upload was written where its name pointed")
	}
}

func TestMeasurementsAreForgotten(t *testing.T) {
	now := time.Unix(1e9, 0)
	s := newShown(func() time.Time { return now })
	first := s.keep(&measurement.Result{})
	if _, err := s.get(first); err != nil {
		t.Fatal(err)
	}
	for range mostShown {
		s.keep(&measurement.Result{})
	}
	if _, err := s.get(first); err == nil {
		t.Error("an old measurement outlives newer ones")
	}
	last := s.keep(&measurement.Result{})
	now = now.Add(shownFor + time.Second)
	if _, err := s.get(last); err == nil || len(s.items) != 0 {
		t.Error("a measurement outlives its time")
	}
}

// TestLargeMeasurementsAreForgottenFirst bounds the numbers of what is kept; the newest stays whatever it has.
func TestLargeMeasurementsAreForgottenFirst(t *testing.T) {
	s := newShown(time.Now)
	large := &measurement.Result{Columns: []measurement.Column{{Report: &measure.Report{Margins: make(measure.Vector, mostNumbers/2+1)}}}}
	small := s.keep(&measurement.Result{})
	first := s.keep(large)
	if _, err := s.get(small); err != nil {
		t.Error("a small measurement went before there were too many numbers:", err)
	}
	second := s.keep(large)
	if _, err := s.get(first); err == nil {
		t.Error("two measurements of more numbers than are kept are there")
	}
	if _, err := s.get(second); err != nil {
		t.Error(err)
	}
}
