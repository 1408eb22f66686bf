//go:build !unix

package inputfile

const nonBlocking = 0
