package serve

import (
	"time"

	"golang.org/x/sys/windows"
)

// ownTime is the processor time of this process in seconds.
func ownTime() float64 {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		panic(err) // who may ask is not a question of luck
	}
	ticks := func(f windows.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) } // of 100 ns
	return (100 * time.Duration(ticks(kernel)+ticks(user))).Seconds()
}
