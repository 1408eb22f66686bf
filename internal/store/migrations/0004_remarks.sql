-- What people write about a study on its page, by the study's name. Computing the study again keeps it.
CREATE TABLE remark (
    study TEXT PRIMARY KEY,
    words TEXT NOT NULL
) STRICT, WITHOUT ROWID;
