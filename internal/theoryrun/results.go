package theoryrun

import (
	"fmt"

	"collapse.example/collapse/internal/chart"
	"collapse.example/collapse/internal/format"
	"collapse.example/collapse/internal/judge"
	"collapse.example/collapse/internal/theoryfig"
)

// results is what a recipe computed: plain data, which tests can also make up. Everything that a page says comes from it alone.
type results interface {
	claims() []judge.Claim
	figures() []chart.Figure
	facts() []theoryfig.Fact
	notes() []string
}

// silent stands in for parts that a kind of recipe does not have.
type silent struct{}

func (silent) claims() []judge.Claim   { return nil }
func (silent) figures() []chart.Figure { return nil }
func (silent) facts() []theoryfig.Fact { return nil }
func (silent) notes() []string         { return nil }

// claim is a statement with its verdict. id is unique in a recipe; claims about one of several cases end in its number.
func claim(id, statement string, holds bool, evidence string, args ...any) judge.Claim {
	c := judge.Claim{ID: id, Statement: statement, Verdict: judge.Fails, Reason: format.Sprintf(evidence, args...)}
	if holds {
		c.Verdict = judge.Holds
	}
	return c
}

// numbered is the id of a claim about case i of a recipe, from 1.
func numbered(id string, i int) string { return fmt.Sprintf("%s-%d", id, i+1) }

func fact(name, value, from string) theoryfig.Fact {
	return theoryfig.Fact{Name: name, Value: value, From: from}
}
