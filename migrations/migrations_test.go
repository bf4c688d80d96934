package migrations_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"annotator/migrations"
)

// TestMigrationsHaveNoGap demands that the files are numbered from 1 without a gap, for their order is that of their
// names.
func TestMigrationsHaveNoGap(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		if strings.HasSuffix(file.Name(), ".sql") {
			n++
			if !strings.HasPrefix(file.Name(), fmt.Sprintf("%04d_", n)) {
				t.Errorf("%s should have the number %04d", file.Name(), n)
			}
		}
	}
	if got := len(migrations.All()); got != n || n == 0 {
		t.Errorf("%d of %d migrations", got, n)
	}
}
