package serve

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"collapse/internal/demo"
	"collapse/internal/store"
	"collapse/internal/train"
	"collapse/parallel"
)

// newBrowser starts a Chromium with a profile of its own; the test says so where there is none.
func newBrowser(t testing.TB) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no browser is driven")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("chromium is not installed: the page is not tried in a browser")
	}
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	options = append(options, chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU)
	for _, flag := range []string{"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync", "hide-scrollbars"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	t.Cleanup(func() { stop(); stopAllocator() })
	// The context of the first call must have no timeout: it is that of the browser.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting %s: %v", path, err)
	}
	return ctx
}

// newTab opens another tab of the same browser, with an end.
func newTab(t testing.TB, browser context.Context, limit time.Duration) context.Context {
	t.Helper()
	tab, stop := chromedp.NewContext(browser)
	t.Cleanup(stop)
	if err := chromedp.Do(tab); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithTimeout(tab, limit)
	t.Cleanup(end)
	return ctx
}

// do runs steps in a tab.
func do(t testing.TB, tab context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(tab, steps...); err != nil {
		t.Fatal(err)
	}
}

// look evaluates an expression in a tab. A page that is being loaded again, as that of a run is when it has its first measurement,
// does not know its names for a moment.
func look[T any](t testing.TB, tab context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(tab, chromedp.Evaluate[T](expression))
	for start := time.Now(); err != nil && time.Since(start) < 10*time.Second; time.Sleep(20 * time.Millisecond) {
		v, err = chromedp.Run(tab, chromedp.Evaluate[T](expression))
	}
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for an expression to be true in a tab.
func until(t testing.TB, tab context.Context, limit time.Duration, expression string) {
	t.Helper()
	var last bool
	for start := time.Now(); time.Since(start) < limit; time.Sleep(20 * time.Millisecond) {
		v, err := chromedp.Run(tab, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && v {
			return
		}
		last = err == nil
	}
	body, _ := chromedp.Run(tab, chromedp.Evaluate[string]("document.title + ' | ' + (document.getElementById('status') || {}).textContent + ' | ' + document.body.innerText.slice(0, 300)"))
	t.Fatalf("after %v not true (page answers: %v): %s\npage: %s", limit, last, expression, body)
}

// demoLab computes the runs of the smallest demo once for all tests.
func demoLab(t testing.TB) string {
	t.Helper()
	smallest.once.Do(func() { smallest.err = makeDemo() })
	if smallest.err != nil {
		t.Fatal(smallest.err)
	}
	return smallest.dir
}

var smallest struct {
	once sync.Once
	dir  string
	err  error
}

func makeDemo() error {
	dir, err := os.MkdirTemp("", "collapse-serve-test-")
	if err != nil {
		return err
	}
	smallest.dir = dir
	lab, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	defer lab.Close()
	team := parallel.NewTeam(0)
	defer team.Close()
	for _, c := range demo.Smoke(1).Grid.Configs() {
		if _, err := train.Run(context.Background(), c, lab, train.Options{Team: team, Tags: []string{"demo"}}); err != nil {
			return err
		}
	}
	return nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	if smallest.dir != "" {
		os.RemoveAll(smallest.dir)
	}
	os.Exit(code)
}
