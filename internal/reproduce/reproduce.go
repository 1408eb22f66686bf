// Package reproduce computes a recipe and says what came out, as data: the runs that a lab lacks, or a model of the theory, then verdicts,
// numbers and pictures. It prints nothing and makes no page.
//
// train.go is for recipes that train networks, chain.go for those that take settings from a search, theory.go for the others.
package reproduce

import (
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
	Driver   Driver
}

// Driver computes the runs of studies that a lab lacks, and shows how far they are.
type Driver interface {
	Study(lab *store.Lab, name string) (cancelled bool, err error)
	Search(lab *store.Lab, f *study.File) (cancelled bool, err error)
	Notef(format string, args ...any)
}
