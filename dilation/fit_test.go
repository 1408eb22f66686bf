package dilation

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Pairs made by the model itself give back its C_MD, for both losses.
func TestFitRecoversTheModel(t *testing.T) {
	var points []Measured
	for _, eta := range []float64{.01, .02, .05, .1} {
		sol, err := Solve(Params{LW: .005, LH: .02, Alpha: .1, CMD: .7, Eta: eta, Law: law(t, "circle")})
		if err != nil {
			t.Fatal(err)
		}
		points = append(points, Measured{"ce", sol.CE.Memorization, sol.CE.Normalised}, Measured{"ls", sol.LS.Memorization, sol.LS.Normalised})
	}
	c, err := FitCMD(points)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(c.Fits, c.Pooled) {
		near(t, f.Group+" C_MD", f.CMD, .7, 1e-9)
	}
}

func TestSlopesAreCompared(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	make := func(slopeB float64) []Measured {
		var out []Measured
		for i := range 20 {
			x := float64(i+1) / 20
			out = append(out, Measured{"a", x + .02*rng.NormFloat64() + .1, x + .1}, Measured{"b", slopeB*(x+.1) + .02*rng.NormFloat64(), x + .1})
		}
		return out
	}
	same, err := FitCMD(make(1))
	if err != nil {
		t.Fatal(err)
	}
	other, err := FitCMD(make(1.1))
	if err != nil {
		t.Fatal(err)
	}
	if !(same.PValue > .01) || !(other.PValue < 1e-4) {
		t.Errorf("p is %g for equal and %g for different slopes", same.PValue, other.PValue)
	}
	// The 5 % point of F(1, 10) is 4.9646 (tables).
	near(t, "upper tail", upperF(4.9646, 1, 10), .05, 1e-5)
}

func TestReadMeasured(t *testing.T) {
	got, err := ReadMeasured(strings.NewReader("loss,dilation,memorization\nce,0.1,0.2\nls,0.3,0.4\n"))
	if err != nil || len(got) != 2 || got[1] != (Measured{"ls", .4, .3}) {
		t.Errorf("read %v, %v", got, err)
	}
	for _, bad := range []string{"", "a,b\n1,2\n", "memorization,dilation\n1,x\n", "memorization,dilation\n1\n"} {
		if _, err := ReadMeasured(strings.NewReader(bad)); err == nil {
			t.Errorf("%q passed", bad)
		}
	}
	if _, err := FitCMD([]Measured{{"a", 1, 1}}); err == nil {
		t.Error("a fit to one point passed")
	}
}

func FuzzReadMeasured(f *testing.F) {
	f.Add("loss,dilation,memorization\nce,0.1,0.2\n")
	f.Fuzz(func(t *testing.T, text string) {
		points, err := ReadMeasured(strings.NewReader(text))
		if err == nil && len(points) > strings.Count(text, "\n")+1 {
			t.Errorf("%d pairs from %q", len(points), text)
		}
	})
}
