package cli

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/measurement"
	"collapse.example/collapse/internal/safetext"
)

const dialWidth = 28

// drawn is a dial in characters: a line from shuffled labels to collapse, double where collapse begins, and the pointer.
func drawn(d measurement.Dial, width int) string {
	at, limit := int(d.Place(d.Value)*float64(width-1)+.5), int(d.Place(d.Limit)*float64(width-1)+.5)
	var b strings.Builder
	for i := range width {
		switch {
		case i == at:
			b.WriteString("●")
		case i >= limit:
			b.WriteString("═")
		default:
			b.WriteString("─")
		}
	}
	return b.String()
}

// dialLine is a dial with its value.
func dialLine(d measurement.Dial, value string) string {
	return fmt.Sprintf("%s  %s  %-18s %s", d.Name, drawn(d, dialWidth), value, d.About)
}

// dialAxis names both ends of the dials above it, and their signs.
func dialAxis() string {
	return fmt.Sprintf("     %-*s%s  ═ collapsed, or near; ± standard error", dialWidth-len("collapsed"), "shuffled labels", "collapsed")
}

// dialProgress shows the dials as they move: on a terminal in place, elsewhere a line for every fifth epoch.
type dialProgress struct {
	w        io.Writer
	epochs   int
	progress *mpb.Progress // nil away from a terminal
	bars     []*mpb.Bar
	lines    [6]atomic.Value // string
}

func newDialProgress(w io.Writer, epochs int) *dialProgress {
	p := &dialProgress{w: w, epochs: epochs}
	if !onTerminal(w) {
		return p
	}
	p.progress = mpb.New(mpb.WithOutput(w), mpb.WithRefreshRate(100*time.Millisecond))
	for i := range p.lines {
		p.lines[i].Store("")
		p.bars = append(p.bars, p.progress.New(int64(epochs), mpb.NopStyle(), mpb.BarPriority(i),
			mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return p.lines[i].Load().(string) }))))
	}
	return p
}

func (p *dialProgress) show(m demo.Moment) {
	state := ""
	if m.Collapsed {
		state = "  collapsed"
	}
	if p.progress != nil {
		p.lines[0].Store(fmt.Sprintf("epoch %d/%d%s", m.Epoch, p.epochs, state))
		for i, d := range m.Dials {
			p.lines[1+i].Store(dialLine(d, measurement.ShortValue(d.Key, d.Value)))
		}
		p.lines[len(p.lines)-1].Store(dialAxis())
		for _, b := range p.bars {
			b.SetCurrent(int64(m.Epoch))
		}
		return
	}
	if m.Epoch > 1 && m.Epoch%5 != 0 {
		return
	}
	line := fmt.Sprintf("epoch %d/%d", m.Epoch, p.epochs)
	for _, d := range m.Dials {
		line += fmt.Sprintf("  %s %s", d.Name, measurement.ShortValue(d.Key, d.Value))
	}
	safetext.Fprintf(p.w, "%s%s\n", line, state)
}

// close leaves the dials as they stand.
func (p *dialProgress) close() {
	if p.progress == nil {
		return
	}
	for _, b := range p.bars {
		if !b.Completed() {
			b.Abort(false)
		}
	}
	p.progress.Wait()
}
