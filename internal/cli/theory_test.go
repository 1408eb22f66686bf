package cli

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/page"
)

func TestDilationJSON(t *testing.T) {
	var out struct {
		CE, LS     struct{ Margin, Dist, Normalised float64 }
		Gamma      float64
		Assumption struct{ Holds bool }
		Theorem    bool
	}
	code, stdout, stderr := call(t, "--json", "dilation", "--lw", ".01", "--lh", ".01", "--smoothing", ".2", "--c-md", "1", "--eta", ".001")
	if code != exitOK {
		t.Fatal(stderr)
	}
	decodeOnly(t, stdout, &out)
	if math.Abs(out.CE.Normalised-0.00244276) > 1e-8 || math.Abs(out.LS.Dist-1.70231667) > 1e-8 || !out.Assumption.Holds || !out.Theorem || out.Gamma <= 1 {
		t.Errorf("got %+v", out)
	}
	var swept struct{ Points []struct{ Eta, C_MD float64 } }
	code, stdout, stderr = call(t, "--json", "dilation", "--sweep", "eta=0.01..0.1:3,c-md=0.5,1")
	if code != exitOK {
		t.Fatal(stderr)
	}
	decodeOnly(t, stdout, &swept)
	if len(swept.Points) != 6 || math.Abs(swept.Points[2].Eta-math.Sqrt(.001)) > 1e-12 {
		t.Errorf("swept %+v", swept.Points)
	}
}

func TestDilationFit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pairs.csv")
	if err := os.WriteFile(file, []byte("loss,memorization,dilation\nce,0.2,0.1\nce,0.41,0.2\nls,0.1,0.05\nls,0.19,0.1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Fits []struct {
			CMD float64 `json:"c_md"`
		}
	}
	code, stdout, stderr := call(t, "--json", "dilation", "--fit", file, "--out", filepath.Join(t.TempDir(), "page"))
	if code != exitOK {
		t.Fatal(stderr)
	}
	decodeOnly(t, stdout, &out)
	if len(out.Fits) != 2 || math.Abs(out.Fits[0].CMD-2.04) > 1e-12 {
		t.Errorf("fits %+v", out.Fits)
	}
}

func TestLandscapeJSON(t *testing.T) {
	out := map[string]any{}
	code, stdout, stderr := call(t, "--json", "landscape", "--position", "1.7,.6", "--k", "4", "--alpha", "5", "--m", "3")
	if code != exitOK {
		t.Fatal(stderr)
	}
	decodeOnly(t, stdout, &out)
	for key, want := range map[string]float64{"mse": 7.31782240, "mse_ds": -5.48135119, "mse_dtheta": 9.01119715, "ce": 0.45527026, "ce_ds": -0.30699108, "ce_dtheta": 0.70530129} {
		if got, ok := out[key].(float64); !ok || math.Abs(got-want) > 1e-8 {
			t.Errorf("%s is %v, wanted %g", key, out[key], want)
		}
	}
	if v, ok := out["ce_inf"]; !ok || v != nil {
		t.Errorf("ce_inf is %v, wanted null", v)
	}
}

func TestReproduceListAndRun(t *testing.T) {
	var rows []struct{ ID string }
	code, stdout, stderr := call(t, "--json", "reproduce", "--list")
	if code != exitOK {
		t.Fatal(stderr)
	}
	decodeOnly(t, stdout, &rows)
	if len(rows) < 20 {
		t.Errorf("%d recipes", len(rows))
	}
	dir := t.TempDir()
	var out struct {
		Index  string
		Claims []struct{ Verdict string }
	}
	code, stdout, stderr = call(t, "--json", "reproduce", "zhou-thm3.1", "--out", dir)
	if code != exitOK {
		t.Fatal(stderr)
	}
	decodeOnly(t, stdout, &out)
	if out.Index != filepath.Join(dir, "index.html") || len(out.Claims) != 7 || out.Claims[0].Verdict != "holds" {
		t.Errorf("got %+v", out)
	}
}

// TestJSONMakesNoPage: the JSON of a recipe alone is the same as beside a page, and nothing is rendered or written for it, but results that were
// asked for.
func TestJSONMakesNoPage(t *testing.T) {
	t.Chdir(t.TempDir())
	document := func(args ...string) (out map[string]any) {
		code, stdout, stderr := call(t, append([]string{"--json", "reproduce", "zhou-thm3.1"}, args...)...)
		if code != exitOK {
			t.Fatal(stderr)
		}
		decodeOnly(t, stdout, &out)
		return out
	}
	before := page.Rendered()
	alone := document("--results", "kept")
	if n := page.Rendered() - before; n != 0 || alone["index"] != nil || len(alone["figures"].([]any)) > 0 {
		t.Errorf("%d templates executed, index %v, figures %v", n, alone["index"], alone["figures"])
	}
	if there, err := filepath.Glob("*"); err != nil || !slices.Equal(there, []string{"kept"}) {
		t.Errorf("it wrote %v, %v", there, err)
	}
	beside := document("--out", "paged")
	if n := page.Rendered() - before; n == 0 || !strings.HasSuffix(fmt.Sprint(beside["index"]), filepath.Join("paged", "index.html")) {
		t.Errorf("%d templates executed, index %v", n, beside["index"])
	}
	for _, key := range []string{"claims", "title", "paper", "scale"} {
		if alone[key] == nil || !reflect.DeepEqual(alone[key], beside[key]) {
			t.Errorf("%s is %v, and %v beside a page", key, alone[key], beside[key])
		}
	}
}

func TestTheoryWrongCalls(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"dilation", "--eta", "2"}, "eta is 2"},
		{[]string{"dilation", "--law", "sircle"}, "two-point"},
		{[]string{"dilation", "--lw", "1", "--lh", "1"}, "below 1/2"},
		{[]string{"dilation", "--sweep", "etta=1"}, "eta, c-md"},
		{[]string{"landscape", "--k", "2"}, "at least 3"},
		{[]string{"landscape", "--position", "1"}, "--position"},
		{[]string{"reproduce", "tb-fig99"}, "did you mean tb-fig9?"},
		{[]string{"reproduce"}, "--list"},
		{[]string{"reproduce", "tb-fig1", "--run-pages"}, "--run-pages has no effect here"},
	} {
		code, stdout, stderr := call(t, c.args...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, standard error %q; wanted code 2 and %q", c.args, code, stderr, c.want)
		}
	}
}

// A trained classifier's plane and a path across it, from files.
func TestLandscapeOfATrainedClassifier(t *testing.T) {
	dir := t.TempDir()
	weights, path := filepath.Join(dir, "model.safetensors"), filepath.Join(dir, "path.npy")
	write := func(name string, f func(w io.Writer) error) {
		var b bytes.Buffer
		if err := f(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := arrayfile.Of("classifier.weight", []int{3, 2}, []float32{1, 0, -.5, .9, -.5, -.9})
	write(weights, func(out io.Writer) error { return arrayfile.WriteSafetensors(out, []arrayfile.Array{w}, nil) })
	write(path, func(out io.Writer) error {
		return arrayfile.WriteNPY(out, arrayfile.Of("", []int{2, 2}, []float64{.1, .2, 2, .1}))
	})
	var out struct{ Figures []string }
	code, stdout, stderr := call(t, "--json", "landscape", "--k", "3", "--classifier", weights, "--path", path, "--out", filepath.Join(dir, "page"))
	if code != exitOK {
		t.Fatal(stderr)
	}
	decodeOnly(t, stdout, &out)
	data, err := os.ReadFile(filepath.Join(dir, "page", "figures", "surfaces.json"))
	if err != nil || !strings.Contains(string(data), "trained-ce") || !strings.Contains(string(data), "feature over time") {
		t.Errorf("the page lacks the trained classifier or the path: %v", err)
	}
	code, _, stderr = call(t, "landscape", "--k", "4", "--classifier", weights)
	if code != exitUsage || !strings.Contains(stderr, "--weight") {
		t.Errorf("a file without a fitting matrix: exit code %d, %q", code, stderr)
	}
}
