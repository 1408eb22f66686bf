package arrayfile

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

const (
	// FreeMemory is what files of any size may take in addition to their own size.
	FreeMemory = 512 << 20
	// RatioMemory is how many times their own size larger files may take. Features compress by a factor of 1.1 to 20.
	RatioMemory = 32
)

// Budget bounds the memory that reading untrusted files takes: what is unpacked, decoded and copied, not what a mapped file holds as
// it is. Files that are read together share a budget, and so do callers that work at the same time, each with its own part.
//
// A Budget may be used by several goroutines.
type Budget struct {
	// Advice is what error texts suggest, such as a flag that raises the limit. Set it before the first use.
	Advice string

	parent *Budget
	grows  bool // with the files that are opened

	mu    sync.Mutex
	limit int64
	files int64 // total bytes of the opened files
	used  int64
}

// NewBudget returns a budget of limit bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// NewFileBudget returns the budget that Open uses by default: FreeMemory, or RatioMemory times the bytes of all files opened within
// it if that is more.
func NewFileBudget() *Budget { return &Budget{limit: FreeMemory, grows: true} }

// Part returns a budget of at most limit bytes that are also taken from b. Release returns all of them.
func (b *Budget) Part(limit int64) *Budget {
	return &Budget{Advice: b.Advice, parent: b, limit: limit}
}

// BudgetError says that reading would take more memory than a Budget allows.
type BudgetError struct {
	Need, Used, Limit int64 // bytes: asked for, in use before, allowed
	// Shared reports that other users have exhausted a common budget: the same call may succeed later.
	Shared bool
	Advice string // what to try; may be empty
}

func (e *BudgetError) Error() string {
	text := fmt.Sprintf("this takes %s of memory on top of the %s in use, and the limit is %s", bytesText(e.Need), bytesText(e.Used), bytesText(e.Limit))
	if e.Advice != "" {
		text += "; " + e.Advice
	}
	return text
}

// bytesText formats a size with three digits.
func bytesText(n int64) string {
	v, i := float64(n), 0
	for ; v >= 999.5 && i < 6; i++ {
		v /= 1000
	}
	return fmt.Sprintf("%.3g %s", v, [...]string{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"}[i])
}

// Take reserves n bytes before they are allocated. If that is more than is left, the error is a *BudgetError. It panics if n is negative.
func (b *Budget) Take(n int64) error {
	if n < 0 {
		panic("arrayfile: Take of a negative number of bytes")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.limit-b.used {
		return &BudgetError{Need: n, Used: b.used, Limit: b.limit, Advice: b.Advice}
	}
	if b.parent != nil {
		if err := b.parent.Take(n); err != nil {
			shared := *err.(*BudgetError)
			shared.Shared = n <= shared.Limit-b.used
			return &shared
		}
	}
	b.used += n
	return nil
}

// Give returns n bytes that were taken. It panics if fewer are in use.
func (b *Budget) Give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n < 0 || n > b.used {
		panic("arrayfile: Give of bytes that were not taken")
	}
	b.give(n)
}

// give is Give for callers that hold the lock.
func (b *Budget) give(n int64) {
	b.used -= n
	if b.parent != nil {
		b.parent.Give(n)
	}
}

// Release returns everything that is in use. Bytes taken before must not be given back afterwards.
func (b *Budget) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.give(b.used)
}

// Used returns how many bytes are taken.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Limit returns how many bytes may be in use at once.
func (b *Budget) Limit() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit
}

// Opened counts a file of n bytes that is read within b: a budget of NewFileBudget grows with it. Open calls it.
func (b *Budget) Opened(n int64) {
	if b.parent != nil {
		b.parent.Opened(n)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.grows {
		return
	}
	b.files = min(b.files, math.MaxInt64-n) + n
	b.limit = max(FreeMemory, RatioMemory*min(b.files, math.MaxInt64/RatioMemory))
}

// account is what one opened file has taken from a budget.
type account struct {
	budget *Budget
	taken  atomic.Int64
}

// newAccount counts a file of n bytes; a nil budget is one for this file alone.
func newAccount(budget *Budget, n int) *account {
	if budget == nil {
		budget = NewFileBudget()
		budget.Advice = "if the file is to be trusted, save it without compression"
	}
	budget.Opened(int64(n))
	return &account{budget: budget}
}

// take reserves memory until close.
func (a *account) take(n int64) error {
	if err := a.budget.Take(n); err != nil {
		return err
	}
	a.taken.Add(n)
	return nil
}

func (a *account) give(n int64) {
	a.taken.Add(-n)
	a.budget.Give(n)
}

func (a *account) close() { a.budget.Give(a.taken.Swap(0)) }
