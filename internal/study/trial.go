package study

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Roles of the runs of a search.
const (
	RoleTrial        = "trial"
	RoleDefault      = "default"       // the base at the full budget, to compare trials with
	RoleBest         = "best"          // the best settings on all training samples
	RoleDefaultFinal = "default-final" // the base on all training samples
)

// Trial says what a run is for in a search. It is the first line of the run's payload.
type Trial struct {
	Place    int      `json:"place"`              // combination of the grid, from 0
	Where    string   `json:"where,omitempty"`    // the combination in words
	Role     string   `json:"role"`               // one of the roles above
	Number   int      `json:"number"`             // of the trial, from 0
	Epochs   int      `json:"epochs"`             // to train in total, earlier rungs included
	Settings []string `json:"settings,omitempty"` // "section.key=value" of the searched parameters
	Final    []string `json:"final,omitempty"`    // those of [search.final]
	From     string   `json:"from,omitempty"`     // the run of the previous rung
}

const trialMark = "# trial "

// TrialOf reads the first line of a payload; it returns the zero Trial if the run belongs to no search.
func TrialOf(payload string) (t Trial) {
	line, _, _ := strings.Cut(payload, "\n")
	text, ok := strings.CutPrefix(line, trialMark)
	if !ok || json.Unmarshal([]byte(text), &t) != nil {
		return Trial{}
	}
	return t
}

const onAllSamples = " on all samples"

// note returns text such as "ce, seed 1: trial 3 to epoch 9, lr 0.0123".
func (t Trial) note() string {
	var words []string
	if t.Where != "" {
		words = append(words, t.Where)
	}
	switch t.Role {
	case RoleTrial:
		words = append(words, fmt.Sprintf("trial %d to epoch %d", t.Number+1, t.Epochs))
	case RoleBest:
		words = append(words, "best"+onAllSamples)
	case RoleDefaultFinal:
		words = append(words, "default"+onAllSamples)
	default:
		words = append(words, t.Role)
	}
	words = append(words, InWords(slices.Concat(t.Settings, t.Final))...)
	return strings.Join(words, ", ")
}

// shortSetting writes "optim.lr=0.0123456" as "lr 0.01235".
func shortSetting(s string) string {
	key, value, _ := strings.Cut(s, "=")
	if x, err := strconv.ParseFloat(value, 64); err == nil {
		value = strconv.FormatFloat(x, 'g', 4, 64)
	}
	return key[strings.LastIndexByte(key, '.')+1:] + " " + plain(value)
}

// InWords writes settings in short form, such as "lr 0.01235".
func InWords(settings []string) []string {
	var words []string
	for _, s := range settings {
		words = append(words, shortSetting(s))
	}
	return words
}
