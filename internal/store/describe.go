package store

import (
	"database/sql"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what people write, in characters.
const (
	longestWords  = 100 // tags and labels
	longestRemark = 500
)

// CheckWords says what is wrong with a tag or a label.
func CheckWords(words string) error {
	if !oneLine(words, longestWords) {
		return fmt.Errorf("store: tags and labels are one line of at most %d characters", longestWords)
	}
	return nil
}

func oneLine(words string, longest int) bool {
	return utf8.ValidString(words) && utf8.RuneCountInString(words) <= longest && !strings.ContainsFunc(words, unicode.IsControl)
}

// SetRemark replaces what people wrote about a study; "" removes it. *StudyNotFoundError.
func (l *Lab) SetRemark(study, remark string) error {
	if !oneLine(remark, longestRemark) {
		return fmt.Errorf("store: a remark about a study is one line of at most %d characters", longestRemark)
	}
	if _, err := l.Study(study); err != nil {
		return err
	}
	return l.write(func(tx *sql.Tx) error {
		return execute(tx, "INSERT INTO remark (study, words) VALUES (?, ?) ON CONFLICT (study) DO UPDATE SET words = excluded.words", study, remark)
	})
}

// remarks is the first schema that holds remarks.
const remarks = 4

// Remark is what people wrote about a study.
func (r *Reader) Remark(study string) (string, error) {
	if r.schema < remarks {
		return "", nil
	}
	found, err := collect(r, func(scan func(...any) error) (words string, err error) { return words, scan(&words) }, "SELECT words FROM remark WHERE study = ?", study)
	return strings.Join(found, ""), err
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
