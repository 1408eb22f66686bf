-- Studies that lists leave out unless asked. Computing the study again brings it back.
CREATE TABLE archived (
    study INTEGER PRIMARY KEY REFERENCES study (id) ON DELETE CASCADE
) STRICT;
