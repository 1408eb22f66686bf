package store

// StudyVersions returns, for each version of the program that computed runs of a study, how many of those that it has finished or
// begun: a run counts for the last process that leased it. Failed runs, whose numbers nobody uses, do not count.
func (r *Reader) StudyVersions(name string) (map[string]int, error) {
	type row struct {
		version string
		runs    int
	}
	list, err := collect(r, func(scan func(...any) error) (v row, err error) { return v, scan(&v.version, &v.runs) },
		`SELECT attempt.version, count(DISTINCT run.id) FROM study
		JOIN study_run ON study_run.study = study.id JOIN run ON run.id = study_run.run
		JOIN attempt ON attempt.run = run.id AND attempt.generation = run.generation
		WHERE study.name = ? AND run.status IN (?, ?, ?) AND attempt.version <> '' GROUP BY attempt.version`, name, Done, Running, Interrupted)
	found := map[string]int{}
	for _, v := range list {
		found[v.version] = v.runs
	}
	return found, err
}
