package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"collapse.example/collapse/internal/script"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
)

// scripts are runs of a script.
type scripts struct{ *Trainer }

// specOf returns the run with the given settings; the error lists everything that is wrong with them.
func (s scripts) specOf(settings []string) (script.Spec, error) {
	spec := s.spec
	spec.Settings = map[string]any{}
	bad := &train.ConfigError{}
	complain := func(key, format string, args ...any) {
		bad.Problems = append(bad.Problems, train.Problem{Key: key, Message: fmt.Sprintf(format, args...)})
	}
	for _, setting := range settings {
		key, text, _ := strings.Cut(setting, "=")
		if why := script.CheckKey(key); why != "" {
			complain(key, "%s", why)
			continue
		}
		v, err := settingValue(text)
		if err != nil {
			complain(key, "is %s; %v", text, err)
			continue
		}
		switch key {
		case script.EpochsKey:
			n, err := strconv.Atoi(fmt.Sprint(v))
			if err != nil || n < 1 || n > script.MostEpochs {
				complain(key, "is %s; wanted 1 to %d", text, script.MostEpochs)
				continue
			}
			spec.Epochs = n
			if !s.fixed {
				spec.Horizon = n
			}
		case script.SeedKey:
			n, err := strconv.ParseUint(fmt.Sprint(v), 10, 64)
			if err != nil {
				complain(key, "is %s; wanted a whole number from 0", text)
				continue
			}
			spec.Seed = &n
		default:
			spec.Settings[key] = v
		}
	}
	for _, key := range lengths {
		if v, ok := spec.Settings[key]; ok && fmt.Sprint(v) != strconv.Itoa(spec.Horizon) {
			complain(key, "is %v, and the runs have %d epochs ([trainer] epochs): write %s instead, which the script gets as run.epochs() and, with args = \"flags\", as --epochs", v, spec.Horizon, script.EpochsKey)
		}
	}
	if v, ok := spec.Settings["seed"]; ok && spec.Seed != nil && fmt.Sprint(v) != fmt.Sprint(*spec.Seed) {
		complain("seed", "is %v, and the study's seeds give %d: leave out one of them", v, *spec.Seed)
	}
	if len(bad.Problems) > 0 {
		return spec, bad
	}
	return spec, nil
}

// settingValue reads a value as TOML, the form that values in a file have; a value that --set gives without quotes is a text.
func settingValue(text string) (any, error) {
	var one struct{ V any }
	if err := toml.Unmarshal([]byte("V = "+text), &one); err != nil {
		one.V = text
		if x, bad := strconv.ParseFloat(text, 64); bad == nil {
			one.V = x
		}
	}
	plain, err := json.Marshal(one.V)
	if err != nil || holdsTable(one.V) {
		return nil, errors.New("wanted a number, a text, a truth value or a list of them")
	}
	d := json.NewDecoder(bytes.NewReader(plain))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}

func (s scripts) check(settings []string) error {
	_, err := s.specOf(settings)
	return err
}

func (s scripts) checkOne(key string, settings []string) error { return s.check(settings) }

func (s scripts) item(settings []string, note string) (Item, error) {
	spec, err := s.specOf(settings)
	if err != nil {
		return Item{}, err
	}
	return scriptItem(spec, note)
}

func scriptItem(spec script.Spec, note string) (Item, error) {
	hash, canonical, err := spec.Identity()
	if err != nil {
		return Item{}, err
	}
	payload, err := spec.Encode()
	if err != nil {
		return Item{}, err
	}
	return Item{Hash: hash, Member: store.Member{Spec: store.Spec{Kind: store.Script, Config: canonical}, Note: note, Payload: payload}}, nil
}

// trial returns a run of a search. A trial that stops early equals one that does not, except for its last epoch: its horizon is the full length.
func (s scripts) trial(c *Place, t Trial) (Item, int, error) {
	settings := slices.Concat(c.base, t.Settings)
	if t.Role == RoleBest || t.Role == RoleDefaultFinal {
		t.Epochs = c.def.Epochs
		settings = append(append(settings, script.EpochsKey+"="+strconv.Itoa(t.Epochs)), t.Final...)
	}
	spec, err := s.specOf(settings)
	if err != nil {
		return Item{}, 0, err
	}
	if t.Role == RoleTrial || t.Role == RoleDefault || t.Role == "" {
		spec.Epochs, spec.Horizon = t.Epochs, c.def.Epochs
	}
	t.Epochs = spec.Epochs
	note := strings.Replace(t.note(), onAllSamples, " again", 1) // its data are the same
	item, err := scriptItem(spec, note)
	return item, spec.Epochs, err
}

// search: the script reports the metric, so only the user knows which one it is.
func (s scripts) search(d *Search, f *File, bad *FileError) (epochs, every int, ok bool) {
	if d.Metric == "" {
		bad.add("[search] metric is missing; wanted a value that the script reports, such as test/loss")
	}
	if s.fixed {
		bad.add("[trainer] horizon goes with no [search], which makes schedules for its longest trial; leave it out")
	}
	spec, err := s.specOf(f.base)
	if err != nil {
		bad.add("[base] %v", err)
		return 0, 0, false
	}
	return spec.Epochs, 1, true
}
