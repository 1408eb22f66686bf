// Package spelling finds the name that a person probably meant.
package spelling

import "strings"

// mostEdits is the number of edits up to which two words are spellings of one.
const mostEdits = 2

// Distance counts insertions, deletions and replacements of bytes, and swaps of neighbours (optimal string alignment).
func Distance(a, b string) int {
	twoAbove, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		twoAbove, above, row = above, row, twoAbove
		row[0] = i + 1
		for j := range len(b) {
			replace := above[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], twoAbove[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// Nearest returns the known name that is nearest to word, or "" if none is near: at most two edits away, one if word has fewer than four
// letters, capitals and the kind of dash aside, or longer by what word leaves out at its end. Of equally near names it is the first.
func Nearest(word string, known []string) string {
	word = plain(word)
	most := mostEdits
	if len(word) < 4 { // two would leave little of it
		most = 1
	}
	if len(word) > longest { // no name is so long, and a distance takes time in proportion
		return ""
	}
	best, distance := "", most+1
	for _, k := range known {
		p := plain(k)
		d := Distance(word, p)
		if len(word) >= 3 && strings.HasPrefix(p, word) {
			d = min(d, most) // nc1 for nc1_pinv
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
