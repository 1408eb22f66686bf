package recipe

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"collapse.example/collapse/internal/judge"
)

// Attribution is the source of claims of a theory recipe, whose runner words them.
type Attribution struct {
	Claims []string `toml:"claims"` // ids; one without the number of its case stands for all cases
	judge.Provenance
}

// Attribute gives claims the sources that the recipe's [[source]] sections name. It reports a claim that is left without one.
func (r *Recipe) Attribute(claims []judge.Claim) error {
	for i := range claims {
		c := &claims[i]
		if p, ok := r.sourceOf(c.ID); ok {
			c.Provenance = p
		}
		if c.Source == judge.Unrecorded {
			return fmt.Errorf("recipe: %s: no [[source]] says whose the claim %q is", r.ID, c.ID)
		}
	}
	return nil
}

// sourceOf finds the source of a claim: by its id, or by its id without the number of the case.
func (r *Recipe) sourceOf(id string) (p judge.Provenance, ok bool) {
	base := strings.TrimRight(id, "0123456789")
	for _, name := range []string{id, strings.TrimSuffix(base, "-")} {
		for _, a := range r.Sources {
			if slices.Contains(a.Claims, name) {
				return a.Provenance, true
			}
		}
	}
	return p, false
}

// checkSources reports claims and numbers of training recipes and [[source]] sections whose source is missing or malformed.
func (r *Recipe) checkSources(text []byte) error {
	var errs []error
	for _, c := range r.Training.Claims {
		if err := c.Provenance.Check(); err != nil {
			errs = append(errs, fmt.Errorf("line %d: claim %q: %w", lineOf(text, c.ID), c.ID, err))
		}
	}
	if r.Printed != nil {
		if err := r.Printed.Provenance.Check(); err != nil {
			errs = append(errs, fmt.Errorf("[printed]: %w", err))
		}
	}
	for _, n := range r.Numbers {
		if n.Place == "" {
			errs = append(errs, fmt.Errorf("number %q: place is missing, the table or section of the paper that prints it", n.What))
		}
	}
	named := map[string]bool{}
	for _, a := range r.Sources {
		if len(a.Claims) == 0 {
			errs = append(errs, errors.New("[[source]]: claims is missing, the ids of the claims that it is about"))
		}
		for _, id := range a.Claims {
			if named[id] {
				errs = append(errs, fmt.Errorf("[[source]]: %q is named twice", id))
			}
			named[id] = true
		}
		if err := a.Provenance.Check(); err != nil {
			errs = append(errs, fmt.Errorf("[[source]] of %s: %w", strings.Join(a.Claims, ", "), err))
		}
	}
	return errors.Join(errs...)
}
