// Package spelling finds the name that a person probably meant.
package spelling

import "strings"

// far is the number of edits from which on two words are no longer spellings of one.
const far = 3

// Distance counts insertions, deletions and replacements of bytes (Levenshtein).
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// Nearest returns the known name that is nearest to word, or "" if none is near: at most two edits away, capitals and the kind of dash
// aside, or longer by what word leaves out at its end. Of equally near names it is the first.
func Nearest(word string, known []string) string {
	best, distance := "", far
	word = plain(word)
	if len(word) > longest { // no name is so long, and a distance takes time in proportion
		return ""
	}
	for _, k := range known {
		p := plain(k)
		d := Distance(word, p)
		if len(word) >= 3 && strings.HasPrefix(p, word) {
			d = min(d, 2) // nc1 for nc1_pinv
		}
		if d < distance && d < len(p) {
			best, distance = k, d
		}
	}
	return best
}

// longest is the length of the longest word that is looked at.
const longest = 200

func plain(word string) string {
	return strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToLower(word))
}

// Suggestion is "; did you mean NAME?" for the known name that is nearest to word, or "".
func Suggestion(word string, known []string) string {
	if name := Nearest(word, known); name != "" {
		return "; did you mean " + name + "?"
	}
	return ""
}
