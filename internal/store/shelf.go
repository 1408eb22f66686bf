package store

import (
	"database/sql"
	"fmt"
)

// First schemas that know archived studies, and tags of studies.
const (
	archives  = 6
	studyTags = 7
)

// RenameStudy gives a study another name, with what people wrote about it. source is the text of its file from now on. A study of which a run
// is under way keeps its name, since other processes know it by that. *StudyNotFoundError.
func (l *Lab) RenameStudy(old, name, source string) error {
	s, err := l.Study(old)
	if err != nil {
		return err
	}
	if n := s.Counts[Running]; n > 0 {
		return fmt.Errorf("store: runs of study %q are under way; rename it when they have ended", old)
	}
	return l.write(func(tx *sql.Tx) error {
		var taken int
		if err := tx.QueryRow("SELECT count(*) FROM study WHERE name = ?", name).Scan(&taken); err != nil {
			return err
		}
		if taken > 0 {
			return fmt.Errorf("store: the lab has a study %q already; choose another name", name)
		}
		if err := execute(tx, "UPDATE study SET name = ?, source = ?, revision = revision + 1 WHERE name = ?", name, source, old); err != nil {
			return err
		}
		return execute(tx, "UPDATE OR REPLACE remark SET study = ? WHERE study = ?", name, old)
	})
}

// ArchiveStudy has lists leave a study out, or brings it back. Its runs and pages stay as they are. *StudyNotFoundError.
func (l *Lab) ArchiveStudy(name string, archive bool) error {
	return l.touchStudy(name, "status = status", func(tx *sql.Tx) error {
		if archive {
			return execute(tx, "INSERT OR IGNORE INTO archived (study) SELECT id FROM study WHERE name = ?", name)
		}
		return execute(tx, "DELETE FROM archived WHERE study = (SELECT id FROM study WHERE name = ?)", name)
	})
}

// ArchivedStudies are the names of the studies that lists leave out.
func (r *Reader) ArchivedStudies() (map[string]bool, error) {
	if r.schema < archives {
		return nil, nil
	}
	names, err := collect(r, func(scan func(...any) error) (name string, err error) { return name, scan(&name) },
		"SELECT name FROM study WHERE id IN (SELECT study FROM archived)")
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out, err
}

// TagStudy gives a study tags, and takes others away; it is no error if it has them, or lacks them. *StudyNotFoundError.
func (l *Lab) TagStudy(name string, add, remove []string) error {
	for _, tag := range add {
		if tag == "" {
			return fmt.Errorf("store: a tag has at least one character")
		}
		if err := CheckWords(tag); err != nil {
			return err
		}
	}
	return l.touchStudy(name, "status = status", func(tx *sql.Tx) error {
		for _, tag := range add {
			if err := execute(tx, "INSERT OR IGNORE INTO study_tag (study, name) SELECT id, ? FROM study WHERE name = ?", tag, name); err != nil {
				return err
			}
		}
		for _, tag := range remove {
			if err := execute(tx, "DELETE FROM study_tag WHERE name = ? AND study = (SELECT id FROM study WHERE name = ?)", tag, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// StudyTags are the tags of studies by their names, sorted.
func (r *Reader) StudyTags() (map[string][]string, error) {
	if r.schema < studyTags {
		return nil, nil
	}
	type pair struct{ study, tag string }
	pairs, err := collect(r, func(scan func(...any) error) (p pair, err error) { return p, scan(&p.study, &p.tag) },
		"SELECT study.name, study_tag.name FROM study_tag JOIN study ON study.id = study_tag.study ORDER BY study_tag.name")
	out := map[string][]string{}
	for _, p := range pairs {
		out[p.study] = append(out[p.study], p.tag)
	}
	return out, err
}
