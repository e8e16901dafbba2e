package engine

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"
)

// table shows all that was measured.
func table(t *testing.T, all []contender, success, again, crowd result) string {
	t.Helper()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tsuccess, ns\tallocations\tone retry, ns\tallocations\t32 goroutines, ns\t")
	for _, c := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t\n", c.name,
			success.cell(c, success[bareName]), allocationsCell(t, c, never),
			again.cell(c, again[bareName]), allocationsCell(t, c, first),
			crowd.cell(c, 0))
	}
	_ = w.Flush()
	fmt.Fprintf(&b, "The first and third column are over the bare calls: %.1f ns for one, %.1f ns for two.\n",
		success[bareName], again[bareName])
	return b.String()
}

// cell is a contender's time over floor.
func (r result) cell(c contender, floor float64) string {
	ns, ok := r[c.name]
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.1f", ns-floor)
}

func allocationsCell(t *testing.T, c contender, fails uint64) string {
	t.Helper()
	lib := c.path(fails)
	if lib == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", allocations(t, lib, fails))
}
