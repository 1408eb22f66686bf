package store

import (
	"database/sql"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestWords bounds tags and labels that people write, in characters.
const longestWords = 100

// CheckWords says what is wrong with a tag or a label.
func CheckWords(words string) error {
	if !utf8.ValidString(words) || utf8.RuneCountInString(words) > longestWords || strings.ContainsFunc(words, unicode.IsControl) {
		return fmt.Errorf("store: tags and labels are one line of at most %d characters", longestWords)
	}
	return nil
}

// SetLabel replaces the label of a run; "" removes it.
func (l *Lab) SetLabel(hash, label string) error {
	return l.describe(hash, label, "UPDATE run SET label = ? WHERE hash = ?")
}

// Tag adds a tag to a run.
func (l *Lab) Tag(hash, tag string) error {
	if tag == "" {
		return fmt.Errorf("store: a tag has at least one character")
	}
	return l.describe(hash, tag, "INSERT INTO tag (run, name) SELECT id, ? FROM run WHERE hash = ? ON CONFLICT (run, name) DO UPDATE SET name = excluded.name")
}

// Untag removes a tag from a run; it is not an error if the run does not have it.
func (l *Lab) Untag(hash, tag string) error {
	return l.write(func(tx *sql.Tx) error {
		return execute(tx, "DELETE FROM tag WHERE name = ? AND run = (SELECT id FROM run WHERE hash = ?)", tag, hash)
	})
}

// describe writes words about a run that must exist.
func (l *Lab) describe(hash, words, query string) error {
	if err := CheckWords(words); err != nil {
		return err
	}
	return l.write(func(tx *sql.Tx) error {
		res, err := tx.Exec(query, words, hash)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return l.missing(hash, sql.ErrNoRows)
		}
		return nil
	})
}
