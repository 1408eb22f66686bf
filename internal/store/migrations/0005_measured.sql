-- Where values come from that were measured after their run had ended, of what it keeps. A row goes with its value.
CREATE TABLE measured (
    run     INTEGER NOT NULL,
    series  INTEGER NOT NULL,
    step    INTEGER NOT NULL,
    made    INTEGER NOT NULL,
    version TEXT    NOT NULL, -- of the program that measured
    kernel  TEXT    NOT NULL,
    source  TEXT    NOT NULL, -- what was measured, below the run's folder
    instead TEXT,             -- why the run had no value before; NULL: it had no row
    PRIMARY KEY (run, series, step),
    FOREIGN KEY (run, series, step) REFERENCES value (run, series, step) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
