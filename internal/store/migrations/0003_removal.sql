-- What is to go from folder runs. Whoever empties or deletes a run notes its folder in the same transaction and deletes the folder
-- after it; what a killed process left undone is done by the next one that claims the run or opens the lab.
CREATE TABLE removal (
    folder TEXT PRIMARY KEY -- a run's hash: its folder is void; ".trash-" and a hash: moved aside, not deleted yet
) STRICT, WITHOUT ROWID;
