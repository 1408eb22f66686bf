package nn

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"collapse.example/collapse/arrayfile"
	"collapse.example/collapse/internal/kernel"
	"collapse.example/collapse/internal/longtest"
)

// torchvisionScript makes the networks named by its arguments in PyTorch, with statistics that are not their initial ones,
// and works in a folder for each. "give" saves the state, the logits of x.npy in evaluation and, for resnet18, the
// gradients and the statistics after a training step in float64; "take" loads our state strictly and saves the logits. The jobs
// are lines of its input, one process for all: PyTorch takes seconds to import. It says "ready" before the first and "done" after each.
const torchvisionScript = `
import importlib.util, sys, warnings
if importlib.util.find_spec("torchvision") is None:
    sys.exit(77)
warnings.filterwarnings("ignore")
import numpy as np, torch, torch.nn as nn, torchvision
torch.set_num_threads(1)

class Narrow(nn.Linear):
    def __init__(self, inputs, outputs):
        super().__init__(1, 1)

class VGG(nn.Module):
    def __init__(self, kind):
        super().__init__()
        linear, nn.Linear = nn.Linear, Narrow # drawing the 120 million weights of a classifier that is not ours takes seconds
        self.features = kind().features
        nn.Linear = linear
        self.fc = nn.Linear(512, 10)
    def forward(self, x):
        return self.fc(nn.functional.adaptive_avg_pool2d(self.features(x), 1).flatten(1))

def network(name):
    if name.startswith("vgg"):
        return VGG(torchvision.models.vgg13_bn if name == "vgg13-bn" else torchvision.models.vgg13)
    m = torchvision.models.resnet18(num_classes=10)
    if "cifar" in name:
        m.conv1, m.maxpool = nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.Identity()
    if "d=7" in name:
        b = m.layer4[1]
        b.conv2, b.bn2, m.fc = nn.Conv2d(512, 7, 3, padding=1, bias=False), nn.BatchNorm2d(7), nn.Linear(7, 10)
        b.downsample = nn.Sequential(nn.Conv2d(512, 7, 1, bias=False), nn.BatchNorm2d(7))
    return m

def give(name, m, folder):
    for k, v in m.state_dict().items():
        if k.endswith("running_mean"): v.normal_(0, 0.1)
        if k.endswith("running_var"): v.uniform_(0.5, 2)
    torch.save(m.state_dict(), folder + "state.pt")
    x, y = torch.randn(3, 3, 32, 32), torch.arange(3)
    np.save(folder + "x.npy", x.numpy())
    m.eval()
    with torch.no_grad(): np.save(folder + "logits.npy", m(x).numpy())
    if name == "resnet18":
        m.train().double()
        nn.functional.cross_entropy(m(x.double()), y).backward()
        after = {"grad." + k: p.grad.numpy() for k, p in m.named_parameters()}
        after.update({k: v.numpy() for k, v in m.state_dict().items() if "running" in k})
        np.savez(folder + "after.npz", **after)

def take(name, m, folder):
    got = np.load(folder + "ours.npz")
    m.load_state_dict({k: torch.from_numpy(got[k]) for k in got.files}, strict=True)
    m.eval()
    with torch.no_grad(): np.save(folder + "logits.npy", m(torch.from_numpy(np.load(folder + "x.npy"))).numpy())

torch.manual_seed(3)
made = {} # drawing millions of weights that a strict state replaces takes a second
print("ready", flush=True)
for job in sys.stdin:
    for name in sys.argv[2:]:
        if name not in made:
            made[name] = network(name)
        {"give": give, "take": take}[job.strip()](name, made[name].float(), sys.argv[1] + "/" + name + "/")
    print("done", flush=True)
`

// torchvision is a process of torchvisionScript.
type torchvision struct {
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr *bytes.Buffer
}

// startTorchvision starts a Python with torchvision on the networks of a folder.
func startTorchvision(t *testing.T, dir string, names []string) *torchvision {
	t.Helper()
	for _, python := range []string{"/usr/bin/python3", "python3"} {
		p := &torchvision{stderr: &bytes.Buffer{}}
		cmd := exec.Command(python, append([]string{"-c", torchvisionScript, dir}, names...)...)
		cmd.Stderr = p.stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if cmd.Start() != nil {
			continue
		}
		p.in, p.out = in, bufio.NewScanner(out)
		if p.out.Scan() && p.out.Text() == "ready" {
			t.Cleanup(func() {
				in.Close()
				cmd.Wait()
			})
			return p
		}
		if cmd.Wait(); cmd.ProcessState.ExitCode() != 77 {
			t.Fatalf("PyTorch does not start: %s", p.stderr)
		}
	}
	t.Skip("no python3 with torchvision (Debian: python3-torchvision)")
	return nil
}

// run waits for a job.
func (p *torchvision) run(t *testing.T, job string) {
	t.Helper()
	fmt.Fprintln(p.in, job)
	if !p.out.Scan() || p.out.Text() != "done" {
		p.in.Close()
		for p.out.Scan() { // until it has ended, and said why
		}
		t.Fatalf("PyTorch does not %s: %s", job, p.stderr)
	}
}

// TestTorchvisionExchange: a state of torchvision's network gives the same logits here, the same gradients and statistics
// after a step; ours loads there strictly and gives the same logits.
func TestTorchvisionExchange(t *testing.T) {
	longtest.Only(t)
	dir := t.TempDir()
	names := []string{"resnet18", "resnet18-cifar-d=7", "vgg13", "vgg13-bn"}
	archs := []Arch{resnet(StemDefault, 0), resnet(StemCIFAR, 7), vgg(KindVGG13), vgg(KindVGG13BN)}
	for _, name := range names {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	torch := startTorchvision(t, dir, names)
	torch.run(t, "give")
	var ours [][]float32
	for i, a := range archs {
		in := func(file string) string { return filepath.Join(dir, names[i], file) }
		n, x := exchangeLoad[float32](t, a, in("state.pt")), readAll(t, in("x.npy"))[""]
		compare(t, names[i]+": logits", n.Forward(to32(x), 3, Eval).Logits, readAll(t, in("logits.npy"))[""], 1e-4)
		if names[i] == "resnet18" {
			exchangeStep(t, exchangeLoad[float64](t, a, in("state.pt")), x, in("after.npz"))
		}
		moveAway(t, n, in("ours.npz"))
		ours = append(ours, n.Forward(to32(x), 3, Eval).Logits)
	}
	torch.run(t, "take")
	for i, name := range names {
		compare(t, name+": logits of our state", ours[i], readAll(t, filepath.Join(dir, name, "logits.npy"))[""], 1e-4)
	}
}

// readAll returns the arrays of a file by name.
func readAll(t *testing.T, path string) map[string][]float64 {
	t.Helper()
	f, err := arrayfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string][]float64{}
	for _, h := range f.Headers() {
		a, err := f.Load(h.Name)
		if err != nil {
			t.Fatal(err)
		}
		if all[h.Name], err = a.Float64s(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// compare fails unless every difference is at most tol times the largest wanted value.
func compare[T kernel.Float](t *testing.T, what string, got []T, want []float64, tol float64) {
	t.Helper()
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	g := make([]float64, len(got))
	for i, v := range got {
		g[i] = float64(v)
	}
	if diff := maxDiff(g, want); !(diff <= tol*largest) {
		t.Errorf("%s: differs by %g of %g", what, diff, largest)
	}
}

// exchangeLoad returns the network of a with a checkpoint of PyTorch.
func exchangeLoad[T kernel.Float](t *testing.T, a Arch, path string) *Network[T] {
	t.Helper()
	n, err := NewArch[T](a, nil, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	f, err := arrayfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shapes := map[string][]int{}
	for _, h := range f.Headers() {
		shapes[h.Name] = h.Shape
	}
	if err := n.CheckState(shapes); err != nil {
		t.Fatal(err)
	}
	arrays := readAll(t, path)
	for _, s := range n.State() {
		for i, v := range arrays[s.Name][:len(s.Values)] {
			s.Values[i] = T(v)
		}
	}
	return n
}

// exchangeStep compares gradients and running statistics after a step with PyTorch's, both in float64: in float32 a ReLU
// or a pooling near a tie goes either way and shows in a gradient.
func exchangeStep(t *testing.T, n *Network[float64], x []float64, path string) {
	t.Helper()
	loss, _ := NewLoss[float64](LossConfig{Kind: CrossEntropy}, 10)
	step(t, n, loss, x, []int32{0, 1, 2})
	want := readAll(t, path)
	for _, p := range n.Params() {
		compare(t, "gradient of "+p.Name, p.Grad, want["grad."+p.Name], 1e-9)
	}
	for _, b := range n.Buffers() {
		compare(t, b.Name, b.Value, want[b.Name], 1e-9)
	}
	for _, c := range n.Counters() {
		if c.Value != 1 {
			t.Errorf("%s is %d after a step", c.Name, c.Value)
		}
	}
}

// moveAway changes the state of n and writes it to a file.
func moveAway(t *testing.T, n *Network[float32], path string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	var arrays []arrayfile.Array
	for _, s := range n.State() {
		if s.Count != nil {
			arrays = append(arrays, arrayfile.Of(s.Name, nil, []int64{*s.Count}))
			continue
		}
		for i := range s.Values {
			s.Values[i] *= 1 + 0.1*rng.Float32()
		}
		arrays = append(arrays, arrayfile.Of(s.Name, s.Shape, s.Values))
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := arrayfile.WriteNPZ(f, arrays); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCheckState lists what is missing, extra and of another shape.
func TestCheckState(t *testing.T) {
	n, err := design[float32](resnet(StemCIFAR, 0), nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	other, err := design[float32](resnet(StemDefault, 10), nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[string][]int{}
	for _, s := range n.State() {
		if s.Count == nil {
			shapes[s.Name] = s.Shape
		}
	}
	if err := n.CheckState(shapes); err != nil {
		t.Errorf("its own state without counters is refused: %v", err)
	}
	delete(shapes, "bn1.bias")
	shapes["head"] = nil
	err = other.CheckState(shapes)
	for _, want := range []string{"6 missing (bn1.bias, layer4.1.downsample.0.weight", "1 extra (head)", "conv1.weight: shape [64 3 3 3], wanted [64 3 7 7]",
		"fc.weight: shape [10 512], wanted [10 10]"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}
