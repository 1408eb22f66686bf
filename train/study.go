package train

import (
	"fmt"
	"strings"

	"collapse/data"
	"collapse/internal/store"
	"collapse/nn"
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
	canonical, err = store.Canonical(in.canonical(cfg))
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

// Outlook is what a run will take, foreseen from its shapes.
type Outlook struct {
	Arch    nn.Arch
	Batch   int
	Steps   int64 // training steps of the whole run
	Forward int64 // samples that only pass forward, in all measurements together
	Memory  Footprint
}

// Foresee reads a run's data and says what it will take. open nil: data.Open.
func Foresee(cfg Config, open func(data.Source, data.Split) (*data.Set, error)) (Outlook, error) {
	if err := cfg.Check(); err != nil {
		return Outlook{}, err
	}
	c := cfg.Resolved()
	in, err := openInputs(c, Options{Open: open})
	if err != nil {
		return Outlook{}, err
	}
	if err := in.prepare(c.Data.Pipeline); err != nil {
		return Outlook{}, err
	}
	need := footprint[float32]
	if c.Run.DType == "float64" {
		need = footprint[float64]
	}
	memory, err := need(c, in)
	if err != nil {
		return Outlook{}, err
	}
	batch := c.batch(in)
	measured := (c.Run.Epochs + c.Run.MeasureEvery - 1) / c.Run.MeasureEvery
	return Outlook{Arch: c.arch(in), Batch: batch, Memory: memory,
		Steps:   int64(c.Run.Epochs) * int64((in.train.N()+batch-1)/batch),
		Forward: int64(measured) * int64(in.train.N()+in.test.N()+in.heldN())}, nil
}
