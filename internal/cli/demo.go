package cli

import (
	"fmt"
	"strings"
	"time"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/outfile"
	"collapse.example/collapse/internal/page"
	"collapse.example/collapse/measure"
	"collapse.example/collapse/parallel"
)

type demoCmd struct {
	Memorization demoMemorizationCmd `cmd:"" help:"Wrong labels, memorized: many small networks, and what they say about it."`
	Minority     demoMinorityCmd     `cmd:"" help:"Imbalanced classes: the small ones become one point."`
	Theory       demoTheoryCmd       `cmd:"" help:"Where neural collapse is not optimal: a hexagon and a deep network."`
	Collapse     demoCollapseCmd     `cmd:"" default:"withargs" help:"A network that collapses, live; the word collapse may be left out."`
}

type demoCollapseCmd struct {
	writesFolder

	Out   string `help:"Where to write: a folder for the page." default:"./out/demo" type:"path" placeholder:"DIR"`
	Scale string `enum:"smoke,default" default:"default" help:"Scale: smoke takes a second and shows that it works (default: default)." placeholder:"NAME"`
	Open  bool   `help:"Show the page in the browser when it is ready."`
	besideFlags
}

// collapseResult is the JSON document of `collapse demo`.
type collapseResult struct {
	Headline  string             `json:"headline"`
	Finding   string             `json:"finding"` // of `collapse measure`, on the last epoch
	Collapsed int                `json:"collapsed_at_epoch"`
	Epochs    int                `json:"epochs"`
	Dials     []measurement.Dial `json:"dials"` // of the last epoch
	Errors    map[string]float64 `json:"standard_errors"`
	Moments   []demo.Moment      `json:"moments"`
	Unusual   []string           `json:"unusual"`
	Run       string             `json:"run"`
	Index     string             `json:"index"`
	Kernel    string             `json:"kernel"`
	Seconds   float64            `json:"seconds"`
}

// Run trains a fixed number of steps, so that the result does not depend on the machine's speed.
func (c *demoCollapseCmd) Run(a *app) error {
	start := time.Now()
	to, err := pageFolder(a.labOutputs(), c.Out)
	if err != nil {
		return err
	}
	lab, err := a.openLab()
	if err != nil {
		return err
	}
	defer c.beside(a)()
	network := demo.Network()
	if c.Scale == "smoke" {
		network = demo.SmokeNetwork()
	}
	team := parallel.NewTeam(a.flags.Threads)
	defer team.Close()
	progress := newDialProgress(a.stderr, network.Run.Epochs)
	found, err := demo.RunCollapse(a.ctx, lab, network, team, progress.show)
	progress.close()
	if err != nil {
		return err
	}
	out := describeCollapse(found)
	if out.Index, err = c.page(a, found, out, to); err != nil {
		return err
	}
	out.Seconds = time.Since(start).Seconds()
	return a.made(out, func() { printCollapse(a, out) }, out.Index, c.Open)
}

func describeCollapse(found *demo.Collapse) *collapseResult {
	out := &collapseResult{Headline: "Not collapsed yet", Finding: measurement.HeadlineOf(found.Report), Collapsed: found.Epoch, Epochs: len(found.Moments),
		Dials: measurement.Dials(found.Report), Errors: found.Errors, Moments: found.Moments, Unusual: unusualOf(found), Run: found.Result.Run, Kernel: isa.Name()}
	if found.Epoch > 0 {
		out.Headline = fmt.Sprintf("Collapsed at epoch %d", found.Epoch)
	}
	return out
}

// concluded is a finding as a sentence, without its first word if that is all that the headline before it says.
func concluded(finding string) string {
	if h := measurement.Headline(finding); h.Lead() == "Collapsed" {
		finding = h.Rest()
	}
	return format.Capital(finding) + "."
}

// unusualOf lists what a reader would not expect: what the headline names, and that test images do not follow.
func unusualOf(found *demo.Collapse) []string {
	out := []string{}
	for _, words := range measurement.Unusual(found.Report) {
		out = append(out, format.Capital(words)+".")
	}
	values := found.Result.Values
	dilation, tested := values["test/"+measure.KeyDilation]
	nc1, measured := values["train/"+measure.KeyNC1Pinv]
	accuracy, classified := values["test/"+measure.KeyAccuracy]
	if tested && measured && classified {
		out = append(out, fmt.Sprintf("Only the training images collapse: on new ones NC1 is %s, %s times as large, and %s are classified correctly.",
			format.Digits(dilation*dilation), format.Digits(dilation*dilation/nc1), format.Percent(accuracy)))
	}
	return out
}

func (c *demoCollapseCmd) page(a *app, found *demo.Collapse, out *collapseResult, to *outfile.Folder) (string, error) {
	defer a.onlyComputes()()
	p := &page.Collapse{Title: out.Headline, Lead: concluded(out.Finding), Dir: found.Result.Dir, Epoch: found.Epoch, Dials: map[int][]measurement.Dial{},
		Errors: found.Errors, Unusual: out.Unusual, More: demoMore, Run: fmt.Sprintf("%.12s", out.Run), Generated: time.Now()}
	for _, m := range found.Moments {
		p.Dials[m.Epoch] = m.Dials
	}
	return p.Write(to)
}

// demoMore are the calls that come next.
var demoMore = []string{"collapse demo memorization", "collapse demo minority", "collapse demo theory", "collapse measure features.npz --html page.html"}

func printCollapse(a *app, out *collapseResult) {
	a.printf("%s of %d. %s\n\n", out.Headline, out.Epochs, concluded(out.Finding))
	for _, d := range out.Dials {
		shown := d.Shown(out.Errors[d.Key])
		a.printf("%s\n", dialLine(d, strings.TrimSpace(shown.Value+" "+shown.Error)))
	}
	a.printf("%s\n\n", dialAxis())
	for _, words := range out.Unusual {
		a.printf("%s\n", words)
	}
	a.printf("\npage  %s\nmore  %s\n      %s\n      %s\n", out.Index, demoMore[0], demoMore[1], demoMore[2])
}
