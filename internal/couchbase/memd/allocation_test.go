//go:build !race

package memd

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/holdfast-db/holdfast/internal/base/sizedread"
)

// A header may state 30 MiB. As long as they have not come, they must not be allocated.
func TestReadAllocatesOnlyAsBytesArrive(t *testing.T) {
	header := unhex(t, "80 00 0000 00 00 0000 01dfffe8 00000001 0000000000000000")
	const reads = 64
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range reads {
		if _, err := Read(bytes.NewReader(header), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / reads; n > 3*sizedread.FirstRead {
		t.Errorf("%d bytes were allocated for a header", n)
	}
}
