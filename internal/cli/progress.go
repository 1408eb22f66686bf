package cli

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"collapse.example/collapse/internal/safetext"
)

// onTerminal reports whether w is a terminal, where a bar can be redrawn in place.
func onTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// bar is a progress bar with a line of text that changes as the work goes on. Away from a terminal it is nil, which draws nothing: callers
// then print plain lines.
type bar struct {
	progress *mpb.Progress
	bar      *mpb.Bar
	text     atomic.Value // string
}

// newBar draws a bar, which is over at its total; with 0, its total is what grow says, and it is over when it is closed.
func newBar(w io.Writer, total int64, name string) *bar {
	b := &bar{progress: mpb.New(mpb.WithOutput(w), mpb.WithWidth(24), mpb.WithRefreshRate(100*time.Millisecond))}
	b.text.Store("")
	b.bar = b.progress.AddBar(total,
		mpb.PrependDecorators(decor.Name(safetext.Line(name)+" "), decor.CountersNoUnit("%d/%d ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + b.text.Load().(string) })))
	return b
}

func (b *bar) set(done int64, format string, args ...any) {
	if b == nil {
		return
	}
	b.text.Store(safetext.Line(fmt.Sprintf(format, args...)))
	b.bar.SetCurrent(done)
}

// grow sets the total of a bar that began without one.
func (b *bar) grow(total int64) { b.bar.SetTotal(total, false) }

// close leaves the bar as it stands and waits until it is drawn.
func (b *bar) close() {
	if b == nil {
		return
	}
	if !b.bar.Completed() {
		b.bar.Abort(false)
	}
	b.progress.Wait()
}

// left prints the time left for people.
func left(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()+0.5))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

// timeLeft is "  40 s left", what follows two blanks at the end of a line; "" if nothing is left or nobody knows.
func timeLeft(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return "  " + left(d) + " left"
}
