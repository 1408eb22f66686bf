package cli

import (
	"fmt"
	"strconv"
)

// positive is a flag that is a whole number from 1; 0 where it was not given.
type positive int

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *positive) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 {
		return fmt.Errorf("%q is no whole number from 1", text)
	}
	*p = positive(n)
	return nil
}
