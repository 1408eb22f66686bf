//go:build race

package ufm

// raceDetector slows numerical loops tenfold; tests with many seeds take fewer under it.
const raceDetector = true
