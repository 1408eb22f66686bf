package scale

import (
	"testing"

	"collapse.example/collapse/nn"
)

func TestMakespanByHand(t *testing.T) {
	for _, c := range []struct {
		rounds [][]float64
		cores  int
		want   float64
	}{
		{nil, 2, 0},
		{[][]float64{{1, 2, 3}}, 1, 6},
		{[][]float64{{1, 2, 3}}, 2, 3},       // 3 beside 2 and 1
		{[][]float64{{2, 2, 2}}, 2, 4},       // two waves
		{[][]float64{{1, 2, 3}}, 64, 3},      // as long as the longest
		{[][]float64{{1, 2, 3}, {4}}, 64, 7}, // the second round waits
	} {
		if got := makespan(c.rounds, c.cores); got != c.want {
			t.Errorf("%v on %d cores: %g, by hand %g", c.rounds, c.cores, got, c.want)
		}
	}
}

func TestRateOfEachNetwork(t *testing.T) {
	for _, size := range nn.Sizes() {
		r := rateOf(size.Arch)
		if !r.is(size.Arch) {
			t.Errorf("%s: no rate of its own, taken is that of %s", size.Name, r.Of)
		}
	}
	for _, c := range []struct {
		arch nn.Arch
		want float64
	}{
		{nn.Arch{Kind: nn.KindMLP, HiddenWidth: 2048}, 204}, {nn.Arch{Kind: nn.KindMLP, HiddenWidth: 512}, 218},
		{nn.Arch{Kind: nn.KindAdapt, StemWidth: 8}, 194}, {nn.Arch{Kind: nn.KindAdapt, StemWidth: 16}, 320},
		{nn.Arch{Kind: nn.KindResNet18}, 370}, {nn.Arch{Kind: nn.KindResNet18, Stem: nn.StemCIFAR}, 377}, {nn.Arch{Kind: nn.KindVGG13BN}, 505},
		{nn.Arch{Kind: "new"}, 194},
	} {
		if got := rateOf(c.arch).GFLOPS; got != c.want {
			t.Errorf("%+v: %g GFLOP/s, measured %g", c.arch, got, c.want)
		}
	}
}
