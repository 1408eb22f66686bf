package scale

import (
	"testing"

	"collapse/nn"
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

func TestSpan(t *testing.T) {
	for hours, want := range map[float64]string{0: "–", 0.0001: "< 1 s", 1.0 / 3600: "1 s", 0.01: "36 s", 0.5: "30 min", 1: "1 hour", 1.5: "1.5 hours", 47: "47 hours", 48: "2 days", 240: "10 days", 9600: "400 days"} {
		if got := Span(hours); got != want {
			t.Errorf("%g hours: %s, wanted %s", hours, got, want)
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
