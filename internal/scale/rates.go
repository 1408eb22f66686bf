package scale

import (
	"collapse.example/collapse/nn"
)

// Rate is how fast networks of a kind train: operations as train.Outlook counts them, using both cores of benchmarks.md, and in PyTorch on
// a GPU (gpuName), a run at a time in float32.
type Rate struct {
	Of     string  `json:"of"`
	GFLOPS float64 `json:"gflops_on_two_cores"`
	Source string  `json:"source"`
	OnGPU  float64 `json:"gflops_on_gpu"` // docs/internal/benchmarks.md, on a GPU: batches as in Source

	is func(nn.Arch) bool
}

// rates are measured; the first that fits counts. Work other than products takes a larger share in a narrow or shallow network, on a GPU nearly
// all of the time. There ResNet18-adapt with more than 8 channels was not measured: it has the rate of 8, which is too low.
var rates = []Rate{
	{"MLP, 1024 units and wider", 204, "docs/internal/benchmarks.md, image networks: MLP 9×2048, batch 512", 11250,
		func(a nn.Arch) bool { return a.Kind == nn.KindMLP && a.HiddenWidth >= 1024 }},
	{"narrower MLP", 218, "docs/internal/benchmarks.md, a training step: 4,260 steps a second of 784 → 3×128 → 2 → 2, batch 64, two runs side by side", 10.5,
		func(a nn.Arch) bool { return a.Kind == nn.KindMLP }},
	{"ResNet18-adapt, up to 8 channels", 194, "docs/internal/benchmarks.md, side by side: 13.1 million images an hour at k = 8, batch 64, two runs side by side", 330,
		func(a nn.Arch) bool { return a.Kind == nn.KindAdapt && a.StemWidth <= 8 }},
	{"ResNet18-adapt, more channels", 320, "docs/internal/benchmarks.md, image networks: k = 16, batch 64, twice the 160 of one thread", 330,
		func(a nn.Arch) bool { return a.Kind == nn.KindAdapt }},
	{"ResNet18, CIFAR stem", 377, "docs/internal/benchmarks.md, image networks: batch 64", 13470,
		func(a nn.Arch) bool { return a.Kind == nn.KindResNet18 && a.Stem == nn.StemCIFAR }},
	{"ResNet18", 370, "docs/internal/benchmarks.md, image networks: default stem, batch 128", 2870,
		func(a nn.Arch) bool { return a.Kind == nn.KindResNet18 }},
	{"VGG13", 505, "docs/internal/benchmarks.md, image networks: batch 128", 13320,
		func(a nn.Arch) bool { return a.Kind == nn.KindVGG13 || a.Kind == nn.KindVGG13BN }},
}

// rateOf returns the rate of a network; one that was never measured counts as the slowest.
func rateOf(a nn.Arch) Rate {
	slowest := rates[0]
	for _, r := range rates {
		if r.is(a) {
			return r
		}
		if r.GFLOPS < slowest.GFLOPS {
			slowest = r
		}
	}
	return slowest
}

// gpuName is the GPU whose rates are above: PyTorch 2.11, deterministic algorithms, float32 without TF32.
const gpuName = "NVIDIA H200"
