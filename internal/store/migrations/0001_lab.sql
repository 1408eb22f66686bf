-- One row per computation. Its values hang on it, and go with it.
CREATE TABLE run (
    id         INTEGER PRIMARY KEY,
    hash       TEXT    NOT NULL UNIQUE,     -- SHA-256 of kind and config, hexadecimal
    kind       TEXT    NOT NULL,
    config     TEXT    NOT NULL CHECK (json_valid(config)), -- canonical JSON
    status     TEXT    NOT NULL CHECK (status IN ('pending', 'running', 'done', 'failed', 'interrupted')),
    error      TEXT    NOT NULL DEFAULT '', -- why it failed
    label      TEXT    NOT NULL DEFAULT '',
    generation INTEGER NOT NULL DEFAULT 0,  -- number of claims so far
    last_epoch INTEGER,                     -- newest epoch whose rows are here
    created    INTEGER NOT NULL,            -- times are milliseconds since 1970, UTC
    finished   INTEGER
) STRICT;
CREATE INDEX run_created ON run (created);

CREATE TABLE tag (
    run  INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    name TEXT    NOT NULL,
    PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_name ON tag (name);

-- The processes whose work is in a run's values: one row per claim.
CREATE TABLE attempt (
    run        INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    generation INTEGER NOT NULL,
    started    INTEGER NOT NULL,
    host       TEXT    NOT NULL,
    version    TEXT    NOT NULL,
    kernel     TEXT    NOT NULL,
    goos       TEXT    NOT NULL,
    goarch     TEXT    NOT NULL,
    goamd64    TEXT    NOT NULL,
    cpu        TEXT    NOT NULL,
    PRIMARY KEY (run, generation)
) STRICT, WITHOUT ROWID;

-- Who works on a run now. No row: nobody.
CREATE TABLE claim (
    run         INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    generation  INTEGER NOT NULL,
    host        TEXT    NOT NULL, -- for people
    host_id     TEXT    NOT NULL, -- equal for processes that can see each other by number
    pid         INTEGER NOT NULL,
    pid_started TEXT    NOT NULL, -- tells a process from a later one of the same number
    heartbeat   INTEGER NOT NULL
) STRICT;

-- Every name a number can have, once.
CREATE TABLE series (
    id      INTEGER PRIMARY KEY,
    series  TEXT NOT NULL,
    split   TEXT NOT NULL,
    layer   TEXT NOT NULL,
    measure TEXT NOT NULL,
    UNIQUE (series, split, layer, measure)
) STRICT;

CREATE TABLE value (
    run     INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    series  INTEGER NOT NULL REFERENCES series (id),
    step    INTEGER NOT NULL,
    epoch   INTEGER NOT NULL, -- the transaction that wrote it; resuming deletes later ones
    value   REAL,
    missing TEXT,             -- why there is no value
    PRIMARY KEY (run, series, step),
    CHECK ((value IS NULL) = (missing IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- For readers with other tools.
CREATE VIEW runs AS
    SELECT hash, kind, config, status, error, label, created, started, finished, last_epoch,
           version, kernel, goos, goarch, goamd64, cpu, host
    FROM run LEFT JOIN attempt ON attempt.run = run.id AND attempt.generation = run.generation;

CREATE VIEW tidy AS
    SELECT run.hash AS run, series.series, step, split, layer, measure, value, missing
    FROM value JOIN run ON run.id = value.run JOIN series ON series.id = value.series;
