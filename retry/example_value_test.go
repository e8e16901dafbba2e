package retry_test

import (
	"context"
	"fmt"
	"io"

	"github.com/holdfast-db/holdfast/retry"
)

// The function returns a value. The connection is lost at its first call, and reading twice does no harm.
func ExampleValue() {
	calls := 0
	colour, err := retry.Value(context.Background(), retry.ReadOnly, classify, func(context.Context) (string, error) {
		if calls++; calls == 1 {
			return "", io.ErrUnexpectedEOF
		}
		return "blue", nil
	})
	fmt.Println(colour, err)
	// Output: blue <nil>
}
