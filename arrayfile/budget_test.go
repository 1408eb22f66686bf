package arrayfile

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
)

func TestBudgetTakesAndGives(t *testing.T) {
	b := NewBudget(100)
	b.Advice = "ask for less"
	if err := b.Take(60); err != nil {
		t.Fatal(err)
	}
	err := b.Take(41)
	var over *BudgetError
	if !errors.As(err, &over) || over.Need != 41 || over.Used != 60 || over.Limit != 100 || over.Shared {
		t.Fatalf("taking 41 when 40 are left: %#v", err)
	}
	if text := err.Error(); !strings.Contains(text, "41 bytes") || !strings.Contains(text, "limit is 100 bytes") || !strings.HasSuffix(text, "; ask for less") {
		t.Errorf("the error says %q", text)
	}
	if err := b.Take(40); err != nil || b.Used() != 100 {
		t.Errorf("taking the remaining 40: %v, %d in use", err, b.Used())
	}
	b.Give(100)
	if b.Used() != 0 {
		t.Errorf("%d are in use after everything was returned", b.Used())
	}
}

// TestBudgetParts: parts share their parent, and an error says whose limit it was.
func TestBudgetParts(t *testing.T) {
	all := NewBudget(100)
	one, two := all.Part(80), all.Part(80)
	if err := one.Take(70); err != nil {
		t.Fatal(err)
	}
	var over *BudgetError
	if err := two.Take(50); !errors.As(err, &over) || !over.Shared || over.Limit != 100 || two.Used() != 0 {
		t.Errorf("a part that finds the common budget used up by another: %#v, %d in use", err, two.Used())
	}
	if err := two.Take(90); !errors.As(err, &over) || over.Shared || over.Limit != 80 {
		t.Errorf("a part that asks for more than its own limit: %#v", err)
	}
	one.Release()
	if one.Used() != 0 || all.Used() != 0 {
		t.Errorf("after Release %d and %d are in use", one.Used(), all.Used())
	}
	if err := two.Take(50); err != nil || all.Used() != 50 {
		t.Errorf("after the other part's Release: %v, %d in use of all", err, all.Used())
	}
	if err := two.Take(10); err != nil { // 60 of 80
		t.Fatal(err)
	}
	if err := all.Take(30); err != nil {
		t.Fatal(err)
	}
	if err := two.Take(15); !errors.As(err, &over) || !over.Shared {
		t.Errorf("what would fit without the others: %#v", err)
	}
	small := NewBudget(70)
	part := small.Part(80)
	if err := part.Take(50); err != nil {
		t.Fatal(err)
	}
	if err := part.Take(30); !errors.As(err, &over) || over.Shared {
		t.Errorf("a request that the part's own use leaves no room for is refused as if it could succeed later: %#v", err)
	}
	if err := all.Part(200).Take(120); !errors.As(err, &over) || over.Shared {
		t.Errorf("more than the common budget ever has is refused as if it could succeed later: %#v", err)
	}
}

func TestBudgetGrowsWithItsFiles(t *testing.T) {
	b := NewFileBudget()
	if b.Opened(1 << 20); b.Limit() != FreeMemory {
		t.Errorf("1 MiB of files may take %d", b.Limit())
	}
	b.Opened(1 << 30)
	if want := int64(RatioMemory * (1<<30 + 1<<20)); b.Limit() != want {
		t.Errorf("1025 MiB of files may take %d; want %d", b.Limit(), want)
	}
	b.Opened(1<<63 - 1)
	if b.Limit() < 1<<62 {
		t.Errorf("sizes overflow: the limit is %d", b.Limit())
	}
}

// TestBudgetCountsOpenedFiles: the limit grows with the files that are opened, through parts as well.
func TestBudgetCountsOpenedFiles(t *testing.T) {
	b := NewFileBudget()
	file := npyFile(npyHeaderText("'|u1'", "(1000,)"), make([]byte, 1000)...)
	for i, budget := range []*Budget{b, b.Part(1 << 20)} {
		f, err := ParseWithin(file, budget)
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(i+1) * int64(len(file)); b.files != want {
			t.Errorf("%d bytes of files are counted, want %d", b.files, want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	b.Advice = "ask for less"
	var over *BudgetError
	if err := b.Part(5).Take(6); !errors.As(err, &over) || over.Advice != b.Advice {
		t.Errorf("a part's advice: %v", err)
	}
}

func TestBudgetOfWrongCallsPanics(t *testing.T) {
	for name, call := range map[string]func(*Budget){
		"Take of -1":           func(b *Budget) { _ = b.Take(-1) },
		"Give of -1":           func(b *Budget) { b.Give(-1) },
		"Give of what is free": func(b *Budget) { b.Give(11) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", name)
				}
			}()
			b := NewBudget(100)
			if err := b.Take(10); err != nil {
				t.Fatal(err)
			}
			call(b)
		}()
	}
}

func TestBudgetOfManyGoroutines(t *testing.T) {
	b := NewBudget(1000)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			part := b.Part(500)
			for range 1000 {
				if err := part.Take(125); err != nil {
					continue
				}
				if err := part.Take(125); err != nil {
					part.Release()
					continue
				}
				if used := b.Used(); used < 250 || used > 1000 {
					t.Errorf("%d of 1000 are in use", used)
				}
				part.Give(125)
				part.Release()
			}
		})
	}
	wg.Wait()
	if b.Used() != 0 {
		t.Errorf("%d are in use at the end", b.Used())
	}
}

// TestBudgetDoesNotOverflow: a claim of nearly all numbers, as a hostile header makes it, is refused whatever is in use.
func TestBudgetDoesNotOverflow(t *testing.T) {
	b := NewBudget(100)
	if err := b.Take(60); err != nil {
		t.Fatal(err)
	}
	var over *BudgetError
	if err := b.Take(math.MaxInt64); !errors.As(err, &over) || over.Need != math.MaxInt64 || b.Used() != 60 {
		t.Errorf("%v, %d in use", err, b.Used())
	}
}

// TestFilesMayTakeWhatIsDocumented: 512 MiB, or 32 times the size of the files if that is more.
func TestFilesMayTakeWhatIsDocumented(t *testing.T) {
	b := NewFileBudget()
	for _, of := range []struct{ opened, limit int64 }{{0, 512 << 20}, {16 << 20, 512 << 20}, {1, 32 * (16<<20 + 1)}, {math.MaxInt64, math.MaxInt64 / 32 * 32}} {
		b.Opened(of.opened)
		if got := b.Limit(); got != of.limit {
			t.Errorf("after a file of %d bytes the limit is %d, want %d", of.opened, got, of.limit)
		}
	}
}
