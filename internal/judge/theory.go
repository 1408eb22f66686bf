package judge

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// States that theory predicts of a run's penalties and classes. A run in one is named so, and is neither unfitted nor degenerate: the
// optimum itself is.
var (
	ZeroSolution = State{"zero solution", "Theory predicts it: at these penalties the least objective has classifier and features at zero, and this run is within 1 % of it.", true}
	MinorityZero = State{"minority at zero", "Theory predicts it: at these penalties the least objective has the smallest classes at zero, and this run is within 1 % of it.", true}
	Minority     = State{"minority collapse", "Theory predicts it: at these penalties the least objective has one classifier and one mean for all of the smallest classes, and this run is within 1 % of it.", true}
)

// Limits of what is called a state that theory predicts.
const (
	nearOptimum    = 0.01 // excess, as a share of f*
	withinRounding = 1e-6 // excess, of objectives that networks in float32 have
	oneVector      = 1e-6 // distance from 1 of the cosine of two classifiers that are one
)

// TheoryKeys are the measures from which States says what theory predicts; pages about many runs read no others beside their own.
var TheoryKeys = []string{train.KeyExcess, train.KeyOptimum, "w_norm_most", "mean_norm_fewest", "w_cos_fewest"}

// BesideTheory reports whether a run can have them, from its configuration as it is stored.
func BesideTheory(row store.Run) bool {
	return row.Kind == store.Train && bytes.Contains(row.Config, []byte(`"decay":"peeled`))
}

// predicted is the state that theory predicts, if the run is near it.
func (r *Run) predicted() (State, bool) {
	if !BesideTheory(r.Run) {
		return State{}, false
	}
	least, known, _ := r.Final(train.SplitTheory, train.KeyOptimum)
	excess, measured, _ := r.Final("train", train.KeyExcess)
	if !known || !measured || !(math.Abs(excess) <= nearOptimum*math.Abs(least)) {
		return State{}, false
	}
	at := func(key string) float64 {
		v, ok, _ := r.Final(train.SplitTheory, key)
		if !ok {
			return math.NaN()
		}
		return v
	}
	switch {
	case at("w_norm_most") == 0:
		return ZeroSolution, true
	case at("mean_norm_fewest") == 0:
		return MinorityZero, true
	case at("w_cos_fewest") >= 1-oneVector:
		return Minority, true
	}
	return State{}, false
}

// Theory sets what a run ended with beside the optimum over free features; "" where theory does not speak of it.
func (r *Run) Theory() string {
	if !BesideTheory(r.Run) {
		return ""
	}
	excess, ok, why := r.Final("train", train.KeyExcess)
	if !ok {
		if len(r.Rows("train", "", train.KeyExcess)) == 0 {
			return ""
		}
		return "No optimum is known to set beside this run: " + why + "."
	}
	least, _, _ := r.Final(train.SplitTheory, train.KeyOptimum)
	text := fmt.Sprintf("The least objective over free features is %s (proved); this run ", format.Short(least, 6))
	switch {
	case math.Abs(excess) <= withinRounding:
		text += "reaches it, within rounding"
	case excess < 0:
		text += fmt.Sprintf("is %s below it, more than rounding explains", format.Short(-excess, 3))
	case least > 0:
		text += fmt.Sprintf("is %s above it, %s %%", format.Short(excess, 3), format.Short(100*excess/least, 3))
	default:
		text += fmt.Sprintf("is %s above it", format.Short(excess, 3))
	}
	if _, known, why := r.Final(train.SplitTheory, "w_norm_most"); !known {
		return text + ". " + format.Capital(why) + "."
	}
	keys := train.SizeKeys()
	most, fewest := r.sized(keys[:len(keys)/2]), r.sized(keys[len(keys)/2:])
	if most == fewest {
		return text + ". " + format.Capital(most) + "."
	}
	for _, side := range [][2]string{{"Largest", most}, {"Smallest", fewest}} {
		if side[1] != "" {
			text += ". " + side[0] + " classes: " + side[1]
		}
	}
	return text + "."
}

// sizeWords name the measures of classes by size, in the order of train.SizeKeys.
var sizeWords = []string{"‖w‖", "‖h‖", "cos w", "cos h", "margin"}

// sized lists measured and predicted numbers of classes of one size; those that are undefined are left out.
func (r *Run) sized(keys []string) string {
	var parts []string
	for i, key := range keys {
		have, measured, _ := r.Final("train", key)
		want, known, _ := r.Final(train.SplitTheory, key)
		if measured && known {
			parts = append(parts, fmt.Sprintf("%s %s (theory %s)", sizeWords[i], format.Short(have, 4), format.Short(want, 4)))
		}
	}
	return strings.Join(parts, ", ")
}

// besideNames are the measures that runs have beside those of package measure.
func besideNames(split string) []string {
	switch split {
	case "train":
		return append(train.SizeKeys(), train.KeyExcess, train.KeyObjective)
	case train.SplitTheory:
		return append(train.SizeKeys(), train.KeyOptimum)
	}
	return nil
}

func knownBeside(split, key string) bool { return slices.Contains(besideNames(split), key) }
