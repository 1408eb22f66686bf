-- Words by which people group studies.
CREATE TABLE study_tag (
    study INTEGER NOT NULL REFERENCES study (id) ON DELETE CASCADE,
    name  TEXT    NOT NULL,
    PRIMARY KEY (study, name)
) STRICT, WITHOUT ROWID;
