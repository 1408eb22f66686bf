package featurefiles

import (
	"errors"
	"fmt"

	"collapse.example/collapse/measure"
)

// explain names the file of what the engine could not measure.
func (s *Set) explain(c *Column, err error) error {
	var bad *measure.NonFiniteError
	if errors.As(err, &bad) {
		return s.nonFinite(c, bad, err)
	}
	var large *measure.RangeError
	if errors.As(err, &large) {
		return fmt.Errorf("%s: %w", names(c.train.parts), err)
	}
	return err
}

func (s *Set) nonFinite(c *Column, bad *measure.NonFiniteError, err error) error {
	if bad.Where == "weight" || bad.Where == "bias" {
		p := s.head.wPart
		if bad.Where == "bias" {
			p = s.head.bPart
		}
		return fmt.Errorf("%s: %d values are NaN or infinite, the first in row %d, column %d; want a finite classifier", p.where(), bad.Count, bad.Row, bad.Col)
	}
	m := map[string]*matrix{"train": c.train, "test": c.test, "ood": c.ood}[bad.Where]
	if m == nil {
		return err
	}
	p, row := m.locate(bad.Row)
	all := ""
	if len(m.parts) > 1 {
		all = fmt.Sprintf(" (sample %d of all %d files)", bad.Row, len(m.parts))
	}
	return fmt.Errorf("%s: %s: %d values in %d rows are NaN or infinite; the first is in row %d%s, column %d; --drop-nonfinite leaves such rows out",
		p.where(), m.role, bad.Count, bad.Rows, row, all, bad.Col)
}
