//go:build !race

package memd

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/holdfast-db/holdfast/internal/sizedread"
)

// A header may state 30 MiB. As long as they have not come, they must not be allocated.
func TestReadAllocatesOnlyAsBytesArrive(t *testing.T) {
	header := unhex(t, "80 00 0000 00 00 0000 01dfffe8 00000001 0000000000000000")
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if _, err := Read(bytes.NewReader(header), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
				b.Fatal(err)
			}
		}
	})
	if n := allocated.AllocedBytesPerOp(); n > 3*sizedread.FirstRead {
		t.Errorf("%d bytes were allocated for a header", n)
	}
}
