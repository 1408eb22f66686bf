package faulttest

import (
	"flag"
	"fmt"

	"collapse.example/collapse/internal/longtest"
)

// SideBySide lets n parallel tests run at a time if nobody has said how many. For packages whose tests mostly wait: by default there
// are only as many as the machine has processors. Whole tests, whose disk is slower and for which nobody waits, keep that. A TestMain
// calls it.
func SideBySide(n int) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen && !longtest.Whole() {
		flag.Set("test.parallel", fmt.Sprint(n))
	}
}
