//go:build unix

package serve

import (
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/judge/judgetest"
	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

// TestPagesOfAScript opens the pages of a study of a script: they show its settings and its own numbers.
func TestPagesOfAScript(t *testing.T) {
	folder := t.TempDir()
	text := `echo "a < b"; for e in 1 2 3; do echo "{\"generation\": $COLLAPSE_GENERATION, \"epoch\": $e, \"values\": {\"test/loss\": 0.$e, \"test/accuracy\": 0.9, \"temperature\": 3, \"pressure\": $([ $e = 1 ] && echo 2 || echo '"NaN"')}}" >> "$COLLAPSE_EVENTS"; done
		echo "{\"generation\": $COLLAPSE_GENERATION, \"done\": true}" >> "$COLLAPSE_EVENTS"`
	if err := os.WriteFile(filepath.Join(folder, "train.sh"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := study.ParseFile(filepath.Join(folder, "mine.toml"), []byte("[trainer]\ncommand = [\"sh\", \"train.sh\"]\nepochs = 3\n[grid]\nwidth_of_mine = [4, 5]\n"+
		"[[claim]]\nid = \"w\"\nsays = \"Wider is better\"\nkind = \"less\"\nearly = true\nleft = 'final(\"test/loss\", {\"width_of_mine\": 5})'\nright = 'final(\"test/loss\", {\"width_of_mine\": 4})'\n"+
		"[[drawing]]\ntitle = \"Temperatures\"\n[[drawing.panel]]\nx = \"epoch\"\ny = \"temperature\"\n"+
		"[[table]]\ntitle = \"Last values\"\nrows = [\"width_of_mine\"]\nvalues = [\"test/loss\"]\n[[drawing]]\ntitle = \"Nothing\"\n[[drawing.panel]]\nx = \"epoch\"\ny = \"humidity\"\n"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	lab, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	items, err := f.Items(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := study.Save(lab, f.Name, "My trainer", f.Source, items); err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		spec, err := script.Decode(it.Payload)
		if err != nil {
			t.Fatal(err)
		}
		if err := script.Run(t.Context(), lab, spec, script.Options{Folder: folder}); err != nil {
			t.Fatal(err)
		}
	}
	a, b := items[0].Hash, items[1].Hash
	if err := os.WriteFile(filepath.Join(folder, "train.sh"), []byte(text+"\n# edited"), 0o666); err != nil {
		t.Fatal(err)
	}
	edited, err := study.ParseFile(filepath.Join(folder, "edited.toml"), []byte("[trainer]\ncommand = [\"sh\", \"train.sh\"]\nepochs = 3\n"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	later, err := edited.Items(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := study.Save(lab, edited.Name, "", edited.Source, later); err != nil {
		t.Fatal(err)
	}
	s := startTest(t, Options{Lab: lab.Dir(), Searches: func(_ *store.Reader, name string) ([]judge.Search, error) {
		found := judgetest.SomeSearches([]float64{0.1}, []float64{0.2})[:1]
		found[0].Metric, found[0].Called, found[0].Trials[1].Run = "test.loss", "test/loss", a
		return found, nil
	}})
	for address, words := range map[string]string{"study/tables/1.pdf": "the forms .tex and .csv", "study/tables/2.csv": `no table "2.csv"`, "study/tables/01.csv": "no table"} {
		if answer, body := get(t, http.DefaultClient, "GET", s.URL()+address+"?study=mine", nil); answer.StatusCode != 404 || !strings.Contains(body, words) {
			t.Errorf("%s: %s, %.500s", address, answer.Status, body)
		}
	}
	for address, wanted := range map[string][]string{
		"":                                            {"My trainer", "2 of 2 done"},
		"study?study=mine":                            {"width_of_mine 4", `<select name="width_of_mine">`, "done", "Best so far", "Best of ", "What was tried", "Learning curves", "Wider is better", "cannot tell", "Temperatures"},
		"study?study=mine&width_of_mine=5":            {"1 of 2 runs", "width_of_mine 5"},
		"study?study=mine&sort=-test/loss":            {`<th scope="col" aria-sort="descending"><a href="/study?study=mine&amp;sort=test%2Floss#list" data-list>test/loss ↓</a></th>`, ">temperature</a></th>", "<td>3.00</td>", "<td>90.0", "<td>NaN</td>"},
		"study?study=mine&state=done":                 {"<h3>Last values</h3>", "<td>0.300</td>", `href="/study/tables/1.tex?study=mine"`, "“Nothing” is not drawn. "},
		"study/tables/1.tex?study=mine":               {`\begin{tabular}`, `4 & 0.3 & 1`},
		"study/tables/1.csv?study=mine":               {"width_of_mine,value,mean,lo,hi,seeds,runs,of,missing\n4,test/loss,0.3,,,1,1,1,"},
		"study/figures/search-curves.json?study=mine": {"0.1", "0.2", "0.3"},
		"run/" + a:                                    {"width_of_mine", "<h1>width_of_mine 4</h1>", "test accuracy", "90.0", "What the script reported, against epoch", `data-tile="temperature">3.00</dd>`, `<th scope="col">temperature</th>`, "<tr><td>2</td><td>NaN</td><td>3.00</td>", "no value after epoch 1 (the value was not a number (NaN))", "pressure: the value was not a number (NaN)", "<code>sh train.sh</code>", "checkpoints among them: <code>" + lab.RunDir(a) + "</code>", "data-output>a &lt; b</pre>"},
		"compare?run=" + a + "&run=" + b:              {"width_of_mine", ">temperature</th>", "<td>3.00</td>"},
		"compare?run=" + a + "&run=" + later[0].Hash:  {"<summary>train.sh differs</summary>", "kept no copy of both"},
		"compare":                                     {a[:12]},
		"run/" + a + "/figures/all.json":              {"0.3", "temperature"},
	} {
		answer, body := get(t, http.DefaultClient, "GET", s.URL()+address, nil)
		if answer.StatusCode != 200 {
			t.Errorf("%s: %s", address, answer.Status)
		}
		for _, words := range wanted {
			if !strings.Contains(body, words) {
				t.Errorf("%s lacks %q:\n%.1500s", address, words, body)
			}
		}
		if strings.HasPrefix(address, "run/") && strings.Contains(body, `id="film"`) {
			t.Errorf("%s has a section for features, of which there are none", address)
		}
		if address == "study?study=mine" && strings.Contains(body, "What the script reported") {
			t.Errorf("%s draws means over trials that end at different epochs", address)
		}
		if strings.Contains(address, "study=mine") && !strings.Contains(address, "json") && strings.Contains(body, ">NC1</a></th>") {
			t.Errorf("%s has a column of NC1, and no run has any", address)
		}
		if strings.Contains(body, ">dilation</th>") {
			t.Errorf("%s has a column of dilations, and no run has any", address)
		}
	}
	searchWithoutABest(t, lab, a)
}

// searchWithoutABest opens the page of a search whose trials never report its metric: it says so, and draws no mean over trials of different lengths.
func searchWithoutABest(t *testing.T, lab *store.Lab, run string) {
	t.Helper()
	s := startTest(t, Options{Lab: lab.Dir(), Searches: func(*store.Reader, string) ([]judge.Search, error) {
		trial := judge.SearchTrial{SearchRun: judge.SearchRun{Run: run, Epochs: 3, Value: math.NaN(), Lacks: "no value"}, Number: 1}
		return []judge.Search{{Metric: "test.los", Called: "test/los", Best: -1, Trials: []judge.SearchTrial{trial}, Reported: []string{"test/loss", "temperature"}}}, nil
	}})
	_, body := get(t, http.DefaultClient, "GET", s.URL()+"study?study=mine", nil)
	if !strings.Contains(body, "1 trial, and no best: none reports test/los, the metric of the search; they report test/loss and temperature; did you mean test/loss?") {
		t.Errorf("%.2000s", body)
	}
	for _, drawn := range []string{"Best so far", "What the script reported"} {
		if strings.Contains(body, drawn) {
			t.Errorf("the page shows %q", drawn)
		}
	}
}
