package serve

import (
	"net/url"
	"slices"
	"sync"
	"time"

	"collapse.example/collapse/internal/figure"
	"collapse.example/collapse/internal/findings"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// studyRuns are the runs that a page about many runs shows.
type studyRuns struct {
	name          string
	title, remark string
	cancelled     bool // by a user, until one resumes it
	counts        counts
	runs          []judge.Run       // newest first, with the last values of findings.StudyMeasures
	rows          []runRow          // the same, each called what its study calls it
	varied        []string          // settings in which they differ
	own           []judge.SeriesKey // values of a script, with columns of their own
	grid          figure.Picture
}

// studies keeps what pages read last of studies while the lab is the same, except of one that is being computed: that also changes with time.
type studies struct {
	mu    sync.Mutex
	of    version
	known map[string]studyRuns
	rows  int
}

// mostStudyRows bounds how many runs of several studies are kept.
const mostStudyRows = 20_000

func (k *studies) get(study string, now version) (found studyRuns, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, ok = k.known[study]
	return found, ok && k.of == now
}

func (k *studies) put(study string, now version, found studyRuns) {
	if found.counts.Running > 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of != now || k.rows+len(found.rows) > mostStudyRows {
		k.of, k.known, k.rows = now, map[string]studyRuns{}, 0
	}
	k.known[study] = found
	k.rows += len(found.rows)
}

// study reads the runs that a request names, and counts them.
func (s *Server) study(lab *store.Reader, q url.Values) (studyRuns, error) {
	key := identity(q).Encode()
	now, err := s.lab.version()
	if err != nil {
		return studyRuns{}, err
	}
	found, known := s.studies.get(key, now)
	if !known {
		if found, err = s.readStudy(lab, q); err != nil {
			return studyRuns{}, err
		}
		s.studies.put(key, now, found)
	}
	found.runs = slices.Clone(found.runs)
	for i := range found.runs { // features that a request reads go with it
		found.runs[i].FeaturesIn(lab.RunDir(found.runs[i].Hash))
	}
	return found, nil
}

func (s *Server) readStudy(lab *store.Reader, q url.Values) (found studyRuns, err error) {
	study, tag, kind := q.Get("study"), q.Get("tag"), store.Kind(q.Get("kind"))
	if study == "" && tag == "" && kind == "" {
		return found, badRequest("a study is named by ?study=…, a tag by ?tag=…, and runs without either by ?kind=…")
	}
	wanted := studyOf(study, tag, kind)
	counted, err := lab.RunCounts()
	if err != nil {
		return found, err
	}
	for _, t := range counted {
		if studyOf(t.Study, t.Tag, t.Kind).URL == wanted.URL {
			found.counts.add(t)
		}
	}
	if found.counts.Total == 0 {
		return found, notFound("the lab has no runs of the study %s", clip(wanted.Name))
	}
	filter := store.Filter{Study: study}
	switch {
	case study != "":
	case tag != "":
		filter.Tag = tag
	default:
		filter.Kinds, filter.Loose = []store.Kind{kind}, true
	}
	rows, err := lab.List(filter)
	if err != nil {
		return found, err
	}
	if found.own, err = ownColumns(lab, rows); err != nil {
		return found, err
	}
	measures := findings.StudyMeasures
	beside := slices.ContainsFunc(rows, judge.BesideTheory)
	if beside {
		measures = slices.Concat(measures, judge.TheoryKeys)
	}
	if len(found.own) > 0 {
		measures = slices.Clone(measures)
		for _, key := range found.own {
			measures = append(measures, key.Measure)
		}
	}
	if beside && len(found.own) == 0 {
		found.own = []judge.SeriesKey{{Split: "train", Measure: train.KeyExcess}, {Split: "train", Measure: "w_cos_fewest"}}
	}
	if found.runs, err = s.cache.newest(lab, rows, measures); err != nil {
		return found, err
	}
	found.name, found.varied, found.grid = wanted.Name, figure.Varied(found.runs), figure.Grid(found.runs)
	return found, found.describe(lab, study)
}

// mostListed is how many of a script's values have a column in the list of its runs.
const mostListed = 4

// ownColumns are the values that have columns in a list of a script's runs: the first that the newest run with values has reported, names that
// no measure has come first. Other lists have none.
func ownColumns(lab *store.Reader, rows []store.Run) (own []judge.SeriesKey, err error) {
	for _, row := range rows {
		if row.Kind != store.Script {
			return nil, nil
		}
		if own != nil || row.LastEpoch == 0 {
			continue
		}
		keys, err := lab.Keys(row.Hash)
		if err != nil {
			return nil, err
		}
		for _, k := range keys {
			if key := (judge.SeriesKey{Split: k.Split, Measure: k.Measure}); k.Series == "epoch" && k.Layer == "" && key != rate {
				own = append(own, key)
			}
		}
	}
	judge.SortOwn(own)
	return own[:min(len(own), mostListed)], nil
}

// rate is the learning rate as most scripts report it: it is a setting, or follows from one.
var rate = judge.SeriesKey{Measure: "lr"}

// describe adds what the study says of itself and of its runs.
func (f *studyRuns) describe(lab *store.Reader, study string) error {
	f.rows = listed(f.runs, time.Now())
	if study == "" {
		return nil
	}
	notes, err := lab.StudyNotes(study)
	if err != nil {
		return err
	}
	for i := range f.rows {
		if note := notes[f.rows[i].Hash]; note != "" {
			f.rows[i].Name = note
		}
	}
	of, err := lab.Study(study)
	if err != nil {
		return err
	}
	f.title, f.cancelled = of.Title, of.Cancelled
	f.remark, err = lab.Remark(study)
	return err
}
