package coordinator

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"collapse.example/collapse/internal/store"
)

// TestADamagedLabEndsItsStudy at once, without attempts: a label of 20 MB is more than any row of this program's has.
func TestADamagedLabEndsItsStudy(t *testing.T) {
	t.Parallel()
	lab := saved(t, smallGrid()[:1])
	db, err := sql.Open("sqlite", filepath.Join(lab.Dir(), "lab.sqlite"))
	if err == nil {
		_, err = db.Exec("UPDATE run SET label = CAST(zeroblob(20000000) AS TEXT)")
	}
	must(t, errors.Join(err, db.Close()))
	began := time.Now()
	_, err = Execute(t.Context(), lab, []string{"s"}, options(t, 1))
	if !store.IsDamaged(err) || !strings.Contains(err.Error(), "collapse lab check") {
		t.Errorf("%v, want that the tables are damaged", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it takes %v", took)
	}
}
