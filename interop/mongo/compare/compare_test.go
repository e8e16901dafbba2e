package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/interop/internal/guide"
)

// TestOurClientDoesWhatTheOfficialOneDoes plays every row with both drivers. The outcomes must be the same, unless the
// row has a reason for a difference.
func TestOurClientDoesWhatTheOfficialOneDoes(t *testing.T) {
	for _, r := range rows(!testing.Short()) {
		t.Run(strings.ReplaceAll(r.name, "/", "|"), func(t *testing.T) { r.compare(t) })
	}
}

// rows are all rows. Those with large documents are slow.
func rows(large bool) []row {
	all := slices.Concat(
		orderRows, nilRows, writeConcernRows, timeoutRows, runCommandRows, eventRows, uriRows, hintRows, findRows, clientRows,
		sessionRows, manyRows, loginRows, cloudRows,
	)
	if large {
		all = append(all, sizeRows...)
	}
	return all
}

func TestTheGuideHasEachReason(t *testing.T) {
	var reasons []string
	for _, r := range rows(true) {
		if r.why != "" && !slices.Contains(reasons, r.why) {
			reasons = append(reasons, r.why)
		}
	}
	guide.Check(t, "MIGRATION.md", reasons)
}

func (r *row) compare(t *testing.T) {
	official, ours := r.play(t, driver.NameOfficial), r.play(t, driver.NameOurs)
	for _, part := range []string{"Connect", "result", "error", "took", "sent"} {
		same := slices.Equal(official.part(part), ours.part(part))
		if differ := slices.Contains(r.differ, part); same == differ && !slices.Contains(r.mayDiffer, part) {
			t.Errorf("%s: the same: %t, want %t (%s)", part, same, !differ, r.why)
		}
	}
	if r.took != "" && !slices.Equal(ours.part("took"), []string{"took: " + r.took}) {
		t.Errorf("ours has %v, want %s", ours.part("took"), r.took)
	}
	for _, err := range []error{official.err, ours.err} {
		if r.text != "" && (err == nil || !strings.Contains(err.Error(), r.text)) {
			t.Errorf("%q is not in the error's text: %v", r.text, err)
		}
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("official:\n\t%s\n\ttext: %v\nours:\n\t%s\n\ttext: %v",
			strings.Join(official.lines, "\n\t"), official.err, strings.Join(ours.lines, "\n\t"), ours.err)
	}
}
