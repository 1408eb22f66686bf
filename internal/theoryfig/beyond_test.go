package theoryfig

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"collapse.example/collapse/imbalance"
	"collapse.example/collapse/internal/longtest"
)

func beyond() Beyond {
	return Beyond{Loss: imbalance.CE, K: 6, N: 100, D: 3, LW: 0.005, LH: 0.005, Ratio: 100, Temperature: 0.1}
}

// TestFollow: the sentences say what the solvers find at the setting, and each figure has its curves.
func TestFollow(t *testing.T) {
	longtest.Only(t)
	found, err := beyond().Follow(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"100 times fewer samples. The small classes are one point", "6 classes in 3 dimensions: the smallest margin found is 1. The cross-polytope has 1.", "With ReLUs"} {
		if !strings.Contains(found.Says[i], want) {
			t.Errorf("%q does not contain %q", found.Says[i], want)
		}
	}
	if y := found.Figures[0].Panels[0].Series[0].Y; len(y) != pageRatios || !(math.Abs(y[0]+0.2) < 1e-6) {
		t.Errorf("cosines of large classes: %v", y)
	}
	if len(found.Figures) != 3 || len(found.Figures[2].Panels[0].Series[0].X) != pageDeepest {
		t.Errorf("figures: %+v", found.Figures)
	}
	mild := beyond()
	mild.Ratio, mild.LW, mild.LH, mild.K, mild.D = 4, 1e-4, 1e-4, longtest.Of(5, 10), longtest.Of(16, 64)
	if found, err = mild.Follow(context.Background()); err != nil || !strings.Contains(found.Says[0], "are apart, as long as each has") || !strings.Contains(found.Says[1], fmt.Sprintf("in %d dimensions", mild.K)) || !strings.Contains(found.Says[2], "below neural collapse") {
		t.Errorf("%q, %v", found.Says, err)
	}
	many := beyond()
	many.K = 12
	if found, err = many.Follow(context.Background()); err != nil || !strings.Contains(found.Says[2], "up to 10 classes") || len(found.Figures[2].Panels[0].Series) != 1 {
		t.Errorf("%q, %v", found.Says, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := beyond().Follow(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func BenchmarkFollow(b *testing.B) {
	at := beyond()
	at.K, at.D, at.LW, at.LH, at.Ratio = 4, 8, 0.005, 0.005, 10
	for range b.N {
		if _, err := at.Follow(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
