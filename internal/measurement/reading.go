package measurement

import (
	"fmt"
	"math"
	"slices"

	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/measure"
)

// reading says in plain words what a value means in this report. We chose the limits between words;
// the registry has the definitions.
type reading func(v float64, r *measure.Report) string

// steps is a reading by size: the words of the first limit that the value does not exceed.
func steps(limits []float64, words ...string) reading {
	return func(v float64, _ *measure.Report) string {
		for i, l := range limits {
			if v <= l {
				return words[i]
			}
		}
		return words[len(words)-1]
	}
}

var (
	smallIsCollapse = []float64{1e-6, 1e-3, 0.1, 1}
	distance        = []float64{1e-6, 0.05, 0.3}
)

// etfDistance reads a distance between normalised matrices, which lies between 0 and 2.
func etfDistance(what, target string) reading {
	return steps(distance, what+" form "+target+" exactly", what+" are very close to "+target,
		what+" are near "+target, what+" are far from "+target)
}

func share(words string) reading {
	return func(v float64, _ *measure.Report) string { return fmt.Sprintf(words, format.Percent(v)) }
}

func plain(words string) reading {
	return func(float64, *measure.Report) string { return words }
}

// readings are those that say more than the measure's name in the registry, which is the reading of every other key.
var readings = map[string]reading{
	measure.KeyNC1Pinv: readNC1,
	measure.KeyNC1TraceRatio: steps(smallIsCollapse, "no variance is left within classes", "nearly all variance is between classes", "most variance is between classes",
		"less variance within classes than between them", "more variance within classes than between them"),
	measure.KeyCDNV:    pairSpread("pairs of classes", "classes are points compared with their distances", "pairs of classes are far apart compared with their spread", "pairs of classes are well separated compared with their spread"),
	measure.KeyCDNVStd: plain("how much this varies between pairs of classes"),
	measure.KeyCDNVMax: pairSpread("the closest two classes", "even the closest two classes are points compared with their distance", "even the closest pair of classes is far apart compared with its spread", "even the closest pair of classes is well separated compared with its spread"),
	measure.KeyVCI: steps([]float64{1e-3, 0.1, 0.5}, "a linear map separates the classes without spread", "a linear map leaves little spread within classes",
		"a linear map leaves part of the spread within classes", "no linear map makes the classes tight"),
	measure.KeyTraceWithin:  plain("variance within classes, in squared feature units"),
	measure.KeyTraceBetween: plain("variance between class means, in squared feature units"),
	measure.KeyRankBetween: func(v float64, r *measure.Report) string {
		most := min(r.D, r.K-1)
		if int(v) == most {
			return fmt.Sprintf("class means span all %d directions they can", most)
		}
		return fmt.Sprintf("class means span %d of at most %d directions", int(v), most)
	},
	measure.KeyRankCut: func(v float64, _ *measure.Report) string {
		if v == 0 {
			return "none of them was cut as rounding"
		}
		return fmt.Sprintf("%d of them were cut as rounding and do not enter nc1_pinv", int(v))
	},
	measure.KeyGNC2Riesz:       steps(distance, "all pairs of class means repel equally", "pairs of class means repel almost equally", "repulsion of class means varies", "repulsion of class means varies widely"),
	measure.KeyDilation:        readDilation,
	measure.KeyTestNC1Ratio:    steps(smallIsCollapse, "no variance within test classes", "nearly all test variance is between classes", "most test variance is between classes", "less test variance within classes than between them", "more test variance within classes than between them"),
	measure.KeyNC2W:            etfDistance("the classifier's rows", "a simplex ETF"),
	measure.KeyNC2MeansETF:     etfDistance("uncentred class means", "a simplex ETF"),
	measure.KeyNC2MeansCentred: etfDistance("class means around their centre", "a simplex ETF"),
	measure.KeyNC2MeansOF:      etfDistance("uncentred class means", "an orthogonal frame"),
	measure.KeyNC2NormCV:       steps([]float64{1e-6, 0.05, 0.3}, "class means have equal length", "class means have nearly equal length", "class means differ moderately in length", "class means differ widely in length"),
	measure.KeyNC2CosDeviation: func(v float64, r *measure.Report) string {
		return fmt.Sprintf("cosines of class means are on average %s off %s", format.Digits(v), format.Digits(-1/float64(r.K-1)))
	},
	measure.KeyNC2CosMax: func(v float64, r *measure.Report) string {
		return fmt.Sprintf("the worst pair of class means is %s off %s", format.Digits(v), format.Digits(-1/float64(r.K-1)))
	},
	measure.KeyNC2WCentred: etfDistance("the classifier's rows around their mean", "a simplex ETF"),
	measure.KeyNC2WNormCV:  steps([]float64{1e-6, 0.05, 0.3}, "the classifier's rows have equal length", "the classifier's rows have nearly equal length", "the classifier's rows differ moderately in length", "the classifier's rows differ widely in length"),
	measure.KeyNC2WCosDeviation: func(v float64, r *measure.Report) string {
		return fmt.Sprintf("cosines of the classifier's rows are on average %s off %s", format.Digits(v), format.Digits(-1/float64(r.K-1)))
	},
	measure.KeyNC2CosStd:     steps(distance, "all pairs of class means have the same angle", "pairs of class means have nearly the same angle", "angles of class means vary", "angles of class means vary widely"),
	measure.KeyNC2WCosStd:    steps(distance, "all pairs of the classifier's rows have the same angle", "pairs of the classifier's rows have nearly the same angle", "angles of the classifier's rows vary", "angles of the classifier's rows vary widely"),
	measure.KeyNC2Coherence:  coherence("class means around their centre"),
	measure.KeyNC2WCoherence: coherence("rows of the classifier"),
	measure.KeyNC2WMinorityCos: func(v float64, r *measure.Report) string {
		return fmt.Sprintf("classifiers of small classes have cosine %s on average (%s: a simplex ETF; 1: one classifier for all of them)", format.Digits(v), format.Digits(-1/float64(r.K-1)))
	},
	measure.KeyParticipation: func(v float64, r *measure.Report) string {
		return fmt.Sprintf("class means point into about %s of at most %d directions", format.Digits(v), min(r.D, r.K-1))
	},
	measure.KeyNC2WSELI:     etfDistance("the classifier's rows around their mean", "the geometry that the class sizes ask for"),
	measure.KeyNC2MeansSELI: etfDistance("class means around their mean", "the geometry that the class sizes ask for"),
	measure.KeyGNC2WMargin: func(v float64, r *measure.Report) string {
		return fmt.Sprintf("the classifier's rows are at least %s from the hull of the others, as directions (%s: a simplex ETF)", format.Digits(v), format.Digits(float64(r.K)/float64(r.K-1)))
	},
	measure.KeyNC2RankD:     etfDistance("the classifier's rows", "the best rank-d simplex"),
	measure.KeyGNC2Distance: steps(distance, "all pairs of class means are equally far apart", "pairs of class means are almost equally far apart", "distances of class means vary", "distances of class means vary widely"),
	measure.KeyGNC2Log:      steps(distance, "all pairs of class means are equally far apart", "pairs of class means are almost equally far apart", "distances of class means vary", "distances of class means vary widely"),
	measure.KeyNC3Gram:      etfDistance("products of classifier rows and class means", "a simplex ETF"),
	measure.KeyNC3Direct:    steps(distance, "classifier rows and class means are the same up to scale", "classifier rows nearly are the class means up to scale", "classifier rows resemble the class means", "classifier rows differ from the class means"),
	measure.KeyNC3Centred:   steps(distance, "classifier rows and centred class means are the same up to scale", "classifier rows nearly are the centred class means up to scale", "classifier rows resemble the centred class means", "classifier rows differ from the centred class means"),
	measure.KeyWMeanAlignment: func(v float64, _ *measure.Report) string {
		return "the classifier reads the directions of the class means with cosine " + format.Digits(v) + " on average (1 = only these directions)"
	},
	measure.KeyNC3RankD:   etfDistance("products of classifier rows and class means", "the best rank-d simplex"),
	measure.KeyNC3Duality: steps(distance, "every row points to its class mean as much as any other", "rows point to their class means almost equally", "rows point to their class means unevenly", "rows point to their class means very unevenly"),
	measure.KeyNC4Bias:    plain("length of b + W h_G: 0 if all classes have equal logits at the centre of all samples"),
	measure.KeyNC4NCCMismatch: func(v float64, _ *measure.Report) string {
		if v == 0 {
			return "the classifier always picks the nearest class centre"
		}
		return "the classifier does not pick the nearest centre's class for " + format.Percent(v)
	},
	measure.KeyTestNCCMismatch: func(v float64, _ *measure.Report) string {
		if v == 0 {
			return "on test samples the classifier always picks the nearest training centre"
		}
		return "on test samples the classifier does not pick the nearest training centre's class for " + format.Percent(v)
	},
	measure.KeyNC5OOD: steps([]float64{0.01, 0.1, 0.5}, "out-of-distribution samples are orthogonal to the class means on average", "nearly orthogonal to out-of-distribution samples",
		"out-of-distribution samples lie partly along class means", "out-of-distribution samples lie along class means"),
	measure.KeyOODMaxSoftmax:  detection("the largest softmax probability"),
	measure.KeyOODMaxLogit:    detection("the largest logit"),
	measure.KeyOODEnergy:      detection("the energy"),
	measure.KeyOODNECO:        detection("NECO"),
	measure.KeyOODMahalanobis: detection("the Mahalanobis distance"),
	measure.KeyFeatureRank: func(v float64, r *measure.Report) string {
		return fmt.Sprintf("the layer's features fill %d of %d directions (%d = the class means alone)", int(v), r.D, min(r.D, r.K-1))
	},
	measure.KeyFeatureStableRank: func(v float64, r *measure.Report) string {
		return fmt.Sprintf("the layer's variance is worth %s equal directions (%d in a simplex)", format.Digits(v), min(r.D, r.K-1))
	},
	measure.KeyNumericalRank: func(v float64, r *measure.Report) string {
		return fmt.Sprintf("a class fills about %s of %d directions (1 = collapsed)", format.Digits(v), r.D)
	},
	measure.KeyMarginMean:      plain("how much closer samples point to their class's row than to any other, on average"),
	measure.KeyMarginMin:       func(v float64, _ *measure.Report) string { return sideOfBoundary(v) },
	measure.KeyMarginMax:       plain("the clearest sample"),
	measure.KeyAccuracy:        share("%s of samples are classified as labelled"),
	measure.KeyNCCAccuracy:     share("%s of samples are nearest to their own class centre"),
	measure.KeyTestAccuracy:    share("%s of test samples are classified as labelled"),
	measure.KeyTestNCCAccuracy: share("%s of test samples are nearest to their class's training centre"),
	measure.KeyMemRedrawn:      plain("distance of redrawn samples from the test centre of their true class, summed"),
	measure.KeyMemFlipped:      plain("distance of samples with a wrong label from the test centre of their true class, summed"),
	measure.KeyMemMean:         plain("memorization per sample with a wrong label"),
	measure.KeyMemNormalised: func(v float64, _ *measure.Report) string {
		return "a corrupted sample is " + format.Digits(v) + " class distances away from its true class"
	},
	measure.KeyMeanNormRatio: func(v float64, _ *measure.Report) string {
		if v < measure.DegenerateRatio {
			return "degenerate: one class mean lies near the origin"
		}
		return "shortest class mean over the longest"
	},
	measure.KeyMinClassCount: func(v float64, r *measure.Report) string {
		if int(v) <= r.D {
			return fmt.Sprintf("the rarest class has %s, not more than the %d directions", format.Count(int(v), "sample"), r.D)
		}
		return "the rarest class has " + format.Count(int(v), "sample")
	},
	measure.KeyConfSmallestEntry: func(v float64, _ *measure.Report) string {
		if v < 0 {
			return "class means have negative entries: they do not come from a ReLU"
		}
		return "class means have no negative entry"
	},
	measure.KeyConfMaxCos:  steps([]float64{1e-6, 0.05, 0.5}, "class means are orthogonal", "class means are nearly orthogonal", "some class means lean towards each other", "some class means point the same way"),
	measure.KeyConfOverlap: steps([]float64{1e-6, 0.05, 0.5}, "class means share no feature", "class means hardly share features", "class means share features", "class means use the same features"),
	measure.KeyConfWeightAngle: func(v float64, _ *measure.Report) string {
		return fmt.Sprintf("the row furthest from its class mean is %.1f° off", v*180/math.Pi)
	},
}

// coherence compares the largest |cos| of K vectors with that of a simplex, 1/(K−1), or, if d is too small for one, with the
// Welch bound √((K−d)/(d(K−1))).
func coherence(what string) reading {
	return func(v float64, r *measure.Report) string {
		beside := format.Digits(1/float64(r.K-1)) + " in a simplex"
		if k, d := float64(r.K), float64(r.D); d < k-1 {
			beside = fmt.Sprintf("at least %s in %d directions", format.Digits(math.Sqrt((k-d)/(d*(k-1)))), r.D)
		}
		return fmt.Sprintf("two %s have a cosine of up to ±%s (%s)", what, format.Digits(v), beside)
	}
}

// pairSpread reads a class-distance normalised variance. From a tenth on it says how wide classes are, not whether they overlap: the spread is
// a sum over all coordinates, of which only those between the two means bring samples nearer to the other.
func pairSpread(who string, small ...string) reading {
	return func(v float64, r *measure.Report) string {
		for i, words := range small {
			if v <= smallIsCollapse[i] {
				return words
			}
		}
		return fmt.Sprintf("the spread of %s is %s, over all %s", who, ratioOf(math.Sqrt(v), "the distance of their means"), format.Count(r.D, "coordinate"))
	}
}

// readDilation says how wide test classes are in the directions between their means, of which there are at most min(d, K−1).
func readDilation(v float64, r *measure.Report) string {
	if v <= smallIsCollapse[0] {
		return "test samples lie on their class mean"
	}
	return "on test samples " + spreadWords(v*v*float64(r.K)/float64(max(1, min(r.D, r.K-1)))) + " along the directions of the class means"
}

// detection reads an AUROC.
func detection(score string) reading {
	return steps([]float64{.4, .6, .9, .999}, score+" is higher for unknown inputs: it misleads", score+" does not tell unknown inputs from known ones",
		score+" tells some unknown inputs from known ones", score+" tells most unknown inputs from known ones", score+" tells unknown inputs from known ones")
}

func sideOfBoundary(v float64) string {
	if v < 0 {
		return "the worst sample points more to another class"
	}
	return "even the worst sample points most to its own class"
}

// readNC1 says how wide classes are compared with the distances between their means, on average over the directions
// between them.
func readNC1(v float64, r *measure.Report) string {
	rank := r.Facts.Rank
	if rank == 0 {
		return "spread within classes compared with distances between class means"
	}
	return fmt.Sprintf("%s (rms over %s)", spreadWords(v*float64(r.K)/float64(rank)), format.Count(rank, "direction"))
}

// ratioWords writes a ratio as a percentage or, from 2 on, as a multiple.
func ratioWords(ratio float64) string {
	if ratio >= 2 {
		return format.Digits(ratio) + " times"
	}
	return format.Digits(100*ratio) + "\u00a0%"
}

// ratioOf writes a ratio to something.
func ratioOf(ratio float64, of string) string {
	if ratio >= 2 {
		return ratioWords(ratio) + " " + of
	}
	return ratioWords(ratio) + " of " + of
}

// distancesToFrames are the measures whose readings say how near class means are to a frame.
var distancesToFrames = []string{measure.KeyNC2MeansETF, measure.KeyNC2MeansCentred, measure.KeyNC2MeansOF}

// SaysNothing reports whether a measure of k classes has a fixed value whatever the model.
func SaysNothing(key string, k int) bool {
	d, _ := measure.Lookup(key)
	return k == 2 && d.OfTwo != ""
}

// byChanceWords says that a value is no better than with shuffled labels; "" if it is better or unknown.
func byChanceWords(key string, v float64, r *measure.Report) string {
	null, known := r.Null[key]
	d, _ := measure.Lookup(key)
	switch {
	case !known:
		return ""
	case key == measure.KeyNCCAccuracy && v <= null.High+.01:
		return ", no better than with shuffled labels"
	case key == measure.KeyMeanNormRatio && v < measure.DegenerateRatio && v >= null.Low/2:
		return ", as with shuffled labels"
	case d.Chance != measure.SmallByChance || v < .8*null.Low:
		return ""
	}
	better, worse := "better", "worse"
	if slices.Contains(distancesToFrames, key) {
		better, worse = "closer", "farther"
	}
	if v > 1.25*null.High {
		return ", " + worse + " than with shuffled labels"
	}
	return ", no " + better + " than with shuffled labels"
}

// Reading is one plain line about a measure's value, compared with shuffled labels too.
func Reading(key string, v float64, r *measure.Report) string {
	if SaysNothing(key, r.K) {
		d, _ := measure.Lookup(key)
		return d.OfTwo
	}
	return plainReading(key, v, r) + byChanceWords(key, v, r)
}

// plainReading is the reading of the value alone.
func plainReading(key string, v float64, r *measure.Report) string {
	if f, ok := readings[key]; ok {
		return f(v, r)
	}
	if d, ok := measure.Lookup(key); ok {
		return d.Name
	}
	return ""
}
