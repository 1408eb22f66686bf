package report

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
)

// limits sets the measures that do not depend on scale beside their limits, at the lowest noise.
func (g *group) limits() (table, string) {
	noise := g.noises[0]
	kept, note := leaveOut(g.pick(func(s *subject) bool { return s.Noise == noise }))
	t := table{Columns: []string{"measure", "limit"}}
	for _, c := range g.curves {
		t.Columns = append(t.Columns, c+", η = "+decimal(noise))
	}
	cos := "0 (every cosine −1/(K−1))"
	if k, err := strconv.Atoi(g.settings["data.classes"]); err == nil && k > 1 {
		cos = "0 (every cosine " + digits(-1/float64(k-1)) + ")"
	}
	for _, m := range []struct{ name, key, limit string }{
		{"NC1, pseudo-inverse form", "nc1_pinv", "0"},
		{"NC2, classifier against a simplex ETF", "nc2_w", "0"},
		{"NC2, angles of centred class means", "nc2_cos_deviation", cos},
		{"NC2, class means against an orthogonal frame (features of a ReLU)", "nc2_means_of", "0"},
		{"NC3, self-duality", "nc3_gram", "0"},
		{"NC4, nearest-class-centre mismatch", "nc4_ncc_mismatch", "0"},
	} {
		row, any := []string{m.name, m.limit}, false
		for _, c := range g.curves {
			v := meanDeviation(onCurve(kept, c), 1, func(s *subject) (float64, bool) {
				if noise > 0 {
					if v, ok := s.final("clean", m.key); ok {
						return v, true
					}
				}
				return s.final("train", m.key)
			})
			any = any || v != "–"
			row = append(row, v)
		}
		if any {
			t.Rows = append(t.Rows, row)
		}
	}
	return t, note
}

// runTable lists every finished run.
func runTable(gs []*group) table {
	t := table{Columns: []string{"run", "label", "loss", "η", "seed", "epochs", "train acc.", "test acc.", "NC1", "dilation", "memorization", "terminal", "degenerate", "seconds", "program"}}
	for _, g := range gs {
		for _, s := range g.subjects {
			q := func(split, key string) string {
				if v, ok := s.final(split, key); ok {
					return digits(v)
				}
				return "–"
			}
			accuracy := func(split string) string {
				if v, ok := s.final(split, "accuracy"); ok {
					return percent(v)
				}
				return "–"
			}
			degenerate := "not known"
			if s.degenerateKnown {
				degenerate = yesNo(s.degenerate) + " (" + digits(s.normRatio) + ")"
			}
			t.Rows = append(t.Rows, []string{hashStart(s.Run), s.Label, s.curve, decimal(s.Noise), strconv.FormatUint(s.Seed, 10),
				strconv.FormatInt(s.LastStep(), 10), accuracy("train"), accuracy("test"), q("train", "nc1_pinv"), q("test", "dilation"),
				q("train", g.form().key), yesNo(s.terminal), degenerate, seconds(s.Run), program(s.Run)})
		}
	}
	return t
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func seconds(r *Run) string {
	if r.Started.IsZero() || r.Finished.IsZero() || r.Finished.Before(r.Started) {
		return "–"
	}
	return digits(r.Finished.Sub(r.Started).Round(time.Millisecond).Seconds())
}

// program is what a run's bits depend on beside its configuration.
func program(r *Run) string {
	p := r.Program
	words := []string{}
	for _, w := range []string{p.Version, p.Kernel, strings.Trim(p.GOOS+"/"+p.GOARCH, "/"), p.GOAMD64, p.CPU} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}

// unfinishedTable lists the runs that gave no result, with why.
func unfinishedTable(runs []*Run) table {
	t := table{Columns: []string{"run", "label", "loss", "η", "seed", "state", "why"}}
	for _, r := range runs {
		why := r.Error
		if why == "" {
			why = fmt.Sprintf("last measured at epoch %d", r.LastStep())
		}
		t.Rows = append(t.Rows, []string{hashStart(r), r.Label, r.curveName(), decimal(r.Noise), strconv.FormatUint(r.Seed, 10), string(r.Status), why})
	}
	return t
}

// few writes sorted values; of many the least and the greatest.
func few(v []string) string {
	const most, ends = 24, 3
	if len(v) <= most {
		return strings.Join(v, " | ")
	}
	return fmt.Sprintf("%s | … | %s (%d values)", strings.Join(v[:ends], " | "), strings.Join(v[len(v)-ends:], " | "), len(v))
}

// commonSettings lists every setting: its value where the runs agree, its values where they differ.
func commonSettings(runs []Run) []pair {
	values := map[string][]string{}
	for i := range runs {
		for k, v := range runs[i].Settings {
			known := false
			for _, w := range values[k] {
				known = known || w == v
			}
			if !known {
				values[k] = append(values[k], v)
			}
		}
	}
	var out []pair
	for k, v := range values {
		sort.Slice(v, func(i, j int) bool {
			a, errA := strconv.ParseFloat(v[i], 64)
			b, errB := strconv.ParseFloat(v[j], 64)
			if errA == nil && errB == nil && a != b {
				return a < b
			}
			return v[i] < v[j]
		})
		out = append(out, pair{k, few(v)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}
