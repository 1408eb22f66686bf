// Package judge reads runs of the lab and says what they show: numbers with intervals over seeds, and verdicts on the
// papers' claims. It knows no HTML and draws nothing.
//
// load.go reads runs (run.go, features.go, frame.go); judgedrun.go says which of them may speak, and sorts them into
// experiments (experiment.go); derived.go and margins.go compute what a run kept the features for. questions.go is
// what a page asks and how the rules read in words; statement.go and number.go are what recipes ask, claim.go what they are
// told, expressions.go the language they ask it in, stats.go the statistics. mdfig1*.go and headline.go judge
// M-D Fig. 1, search_claims.go judges searches of settings.
package judge

// Verdict is the answer to a claim.
type Verdict string

// The verdicts, as pages print them.
const (
	Holds      Verdict = "holds"
	Fails      Verdict = "does not hold"
	CannotTell Verdict = "cannot tell"
)

// Claim is one statement of the paper, judged on these runs.
type Claim struct {
	ID         string   `json:"id"`
	Statement  string   `json:"statement"`
	Verdict    Verdict  `json:"verdict"`
	Statistics []string `json:"statistics"` // the numbers it rests on
	Reason     string   `json:"reason"`     // why this verdict, in a sentence
}
