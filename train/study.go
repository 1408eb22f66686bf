package train

import (
	"fmt"
	"sort"
	"strings"

	"collapse/data"
	"collapse/internal/store"
)

// Identify returns a run's identity in the lab and the canonical configuration that it is taken from, without computing anything. It
// opens the data sets for their digests; open nil: data.Open.
func Identify(cfg Config, open func(data.Source, data.Split) (*data.Set, error)) (hash string, canonical []byte, err error) {
	if err := cfg.Check(); err != nil {
		return "", nil, err
	}
	in, err := openInputs(cfg.Resolved(), Options{Open: open})
	if err != nil {
		return "", nil, err
	}
	canonical, err = store.Canonical(Canonical(cfg, in.train.Digest, in.test.Digest))
	if err != nil {
		return "", nil, err
	}
	return store.Hash(store.Train, canonical), canonical, nil
}

// Changes writes, as TOML, the keys of a configuration that differ from the default, those outside its identity included. Load
// reads them back to the same Config.
func Changes(c Config) string {
	standard := Default()
	defaults := standard.fields()
	var lines []string
	for i, f := range c.fields() {
		if text := f.text(); text != defaults[i].text() {
			lines = append(lines, fmt.Sprintf("%s = %s\n", f.key, text))
		}
	}
	return strings.Join(lines, "")
}

// Keys lists every key of a configuration, sorted.
func Keys() []string {
	c := Default()
	var keys []string
	for _, f := range c.fields() {
		keys = append(keys, f.key)
	}
	sort.Strings(keys)
	return keys
}
