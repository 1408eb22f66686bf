//go:build unix && !linux

package outfile

func hasList(string) bool { return false }
