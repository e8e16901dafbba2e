package panicked

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestApartEndsHoweverTheCodeEnds(t *testing.T) {
	for name, c := range map[string]struct {
		code  func(context.Context) (int, error)
		value int
		is    error
		text  string
		takes time.Duration
	}{
		"a result":         {func(context.Context) (int, error) { return 1, nil }, 1, nil, "", 0},
		"an error":         {func(context.Context) (int, error) { return 2, errMine }, 2, errMine, "mine", 0},
		"a panic":          {func(context.Context) (int, error) { panic(errMine) }, 0, errMine, "the callback panicked in", 0},
		"Goexit":           {func(context.Context) (int, error) { runtime.Goexit(); return 3, nil }, 0, errGoexit, "the callback has no result", 0},
		"the context ends": {func(ctx context.Context) (int, error) { <-ctx.Done(); return 4, ctx.Err() }, 4, context.DeadlineExceeded, "context", time.Second},
		"late":             {func(context.Context) (int, error) { <-time.After(time.Second + grace/2); return 5, nil }, 5, nil, "", time.Second + grace/2},
		"much too late": {
			func(context.Context) (int, error) { <-time.After(time.Hour); return 6, nil },
			0, context.DeadlineExceeded, "the callback has not returned", time.Second + grace,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				value, err := Apart(ctx, "the callback", c.code)
				if value != c.value || !errors.Is(err, c.is) || err != nil && !strings.Contains(err.Error(), c.text) || time.Since(began) != c.takes {
					t.Errorf("%d, %v after %v", value, err, time.Since(began))
				}
				<-time.After(time.Hour) // what goes on in the background ends
			})
		})
	}
}
