-- A study is a list of runs, which other studies may have, too.
CREATE TABLE study (
    id       INTEGER PRIMARY KEY,
    name     TEXT    NOT NULL UNIQUE,
    title    TEXT    NOT NULL,
    source   TEXT    NOT NULL,             -- the file it came from, with overrides applied, for people
    status   TEXT    NOT NULL CHECK (status IN ('open', 'cancelled')),
    revision INTEGER NOT NULL DEFAULT 1,   -- grows when a person changes the study
    created  INTEGER NOT NULL
) STRICT;

CREATE TABLE study_run (
    study    INTEGER NOT NULL REFERENCES study (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,             -- the order in which runs start
    run      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    note     TEXT    NOT NULL,             -- what sets it apart in this study
    payload  TEXT    NOT NULL,             -- what a worker needs to compute it
    PRIMARY KEY (study, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX study_run_run ON study_run (run);

-- The generation of the worker elsewhere whose rows a run holds; 0: its rows were written here.
ALTER TABLE run ADD COLUMN remote INTEGER NOT NULL DEFAULT 0;
-- What ended last, and how many runs of a study are in which state.
CREATE INDEX run_recent ON run (status, finished);
