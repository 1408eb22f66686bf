//go:build !race

package ufm

const raceDetector = false
