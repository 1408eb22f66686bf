package serve

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"collapse.example/collapse/internal/demo"
	"collapse.example/collapse/internal/faulttest"
	"collapse.example/collapse/internal/longtest"
	"collapse.example/collapse/internal/store"
	"collapse.example/collapse/internal/train"
	"collapse.example/collapse/parallel"
)

// newBrowser is a window of the one Chromium of all tests, with cookies, a cache and workers of its own, as a private window has; the
// test says so where there is no Chromium.
func newBrowser(t testing.TB) context.Context {
	t.Helper()
	browser := needChromium(t)
	made, err := chromedp.CallBrowser(browser, target.CreateBrowserContext, target.CreateBrowserContextParams{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := chromedp.NewContext(browser, chromedp.WithExistingBrowserContext(made.BrowserContextID)) // without a tab
	t.Cleanup(func() {
		stop()
		if _, err := chromedp.CallBrowser(browser, target.DisposeBrowserContext, target.DisposeBrowserContextParams(made)); err != nil {
			t.Error(err)
		}
	})
	return ctx
}

// needChromium is the browser of all tests, which starts when the first asks for it.
func needChromium(t testing.TB) context.Context {
	t.Helper()
	longtest.Only(t)
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
	chromium.once.Do(func() { chromium.err = startChromium(path) })
	if chromium.err != nil {
		t.Fatalf("starting %s: %v", path, chromium.err)
	}
	return chromium.ctx
}

var chromium struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
	mu   sync.Mutex
	idle []context.Context // tabs that no test uses now
}

// startChromium starts the browser of all tests with a profile of its own.
func startChromium(path string) error {
	profile, err := os.MkdirTemp("", "collapse-serve-chromium-")
	if err != nil {
		return err
	}
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	options = append(options, chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU)
	for _, flag := range []string{"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync", "hide-scrollbars"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	chromium.ctx, chromium.stop = ctx, func() {
		stop()
		stopAllocator()
		for range 50 { // the last of its processes may still write
			if os.RemoveAll(profile) == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	// The context of the first call must have no timeout: it is that of the browser.
	return chromedp.Do(ctx)
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

// useTab is a tab with an end, as newTab's, for a test that needs one only: it was another test's before and will be the next one's, as
// the first page of a new tab costs four times what any other does. A test that leaves cookies needs a newBrowser.
func useTab(t testing.TB, limit time.Duration) context.Context {
	t.Helper()
	browser := needChromium(t)
	var tab context.Context
	chromium.mu.Lock()
	if n := len(chromium.idle); n > 0 {
		tab, chromium.idle = chromium.idle[n-1], chromium.idle[:n-1]
	}
	chromium.mu.Unlock()
	if tab == nil {
		tab, _ = chromedp.NewContext(browser) // closed with the browser
		if err := chromedp.Do(tab); err != nil {
			t.Fatal(err)
		}
	}
	ctx, end := context.WithTimeout(tab, limit)
	t.Cleanup(func() {
		end()
		clean, end := context.WithTimeout(tab, time.Minute)
		defer end()
		if err := asNew(clean); err != nil {
			t.Logf("the tab is not used again: %v", err)
			return
		}
		if left, err := chromedp.CallBrowser(browser, storage.GetCookies, storage.GetCookiesParams{}); err != nil || len(left.Cookies) > 0 {
			t.Errorf("the test leaves %d cookies to the next one (%v)", len(left.Cookies), err)
		}
		chromium.mu.Lock()
		defer chromium.mu.Unlock()
		chromium.idle = append(chromium.idle, tab)
	})
	return ctx
}

// asNew leaves a tab's page, and takes back what a test may have set.
func asNew(tab context.Context) error {
	return errors.Join(
		chromedp.Do(tab, chromedp.Navigate("about:blank")),
		call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}),
		call(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{}),
		call(tab, emulation.ClearDeviceMetricsOverride, cdp.Empty{}))
}

func call[P, R any](tab context.Context, command cdp.Command[P, R], params P) error {
	_, err := chromedp.Call(tab, command, params)
	return err
}

// inSightDrawn is true once the scripts have drawn the figures on the screen, after which a page has the places that it keeps.
const inSightDrawn = `[...document.querySelectorAll('figure[data-json]')].every((f) => {
	const b = f.getBoundingClientRect();
	return 'drawn' in f.dataset || f.closest('#theory, .twice, details:not([open])') || b.bottom < 0 || b.top > innerHeight;
})`

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
	body, _ := chromedp.Run(tab, chromedp.Evaluate[string]("location.href + ' | ' + document.title + ' | ' + (document.getElementById('status') || {}).textContent + ' | ' + document.body.innerText.slice(0, 300)"))
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
	faulttest.SideBySide(3) // tests in the browser wait for it, and for answers
	code := m.Run()
	if chromium.stop != nil {
		chromium.stop()
	}
	if smallest.dir != "" {
		os.RemoveAll(smallest.dir)
	}
	if many.dir != "" {
		os.RemoveAll(many.dir)
	}
	os.Exit(code)
}
