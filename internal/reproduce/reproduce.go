// Package reproduce computes a recipe and says what came out, as data: the runs that a lab lacks, or a model of the theory, then verdicts,
// numbers and pictures. It prints nothing and makes no page.
//
// train.go is for recipes that train networks, budget.go for a part of them, rows.go for judging again what a lab has, chain.go for those that take
// settings from a search, theory.go for the others.
package reproduce

import (
	"fmt"

	"collapse.example/collapse/internal/recipe"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/study"
)

// Job is a recipe to be computed.
type Job struct {
	Recipe   *recipe.Recipe
	Choice   recipe.Choice
	Command  string // which the study of its runs records
	RunPages bool   // say what each run shows alone, too
	Budget   bool   // the driver may stop before all is done: runs go seed by seed
	Driver   Driver
}

// Ended says how the computation of a study ended without an error.
type Ended int

// How it may end.
const (
	Complete  Ended = iota
	Cancelled       // by the user
	Spent           // with the budget
)

// orError makes an error of a study that was cancelled.
func (e Ended) orError(study string, err error) error {
	if err == nil && e == Cancelled {
		err = fmt.Errorf("the study was cancelled; continue with: collapse study resume %s", study)
	}
	return err
}

// Driver computes the runs of studies that a lab lacks, and shows how far they are.
type Driver interface {
	Study(lab *store.Lab, name string) (Ended, error)
	Search(lab *store.Lab, f *study.File) (Ended, error)
	Notef(format string, args ...any)
}
