package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/pause"
)

func TestFor(t *testing.T) {
	mine := errors.New("mine")
	for _, c := range []struct {
		name     string
		d, until time.Duration // the context ends; negative: before
		want     time.Duration
		err      error
	}{
		{"the time", time.Second, time.Minute, time.Second, nil},
		{"no time", 0, time.Minute, 0, nil},
		{"a negative time", -time.Second, time.Minute, 0, nil},
		{"the context ends first", time.Minute, time.Second, time.Second, mine},
		{"the context has ended", time.Minute, -1, 0, mine},
		{"the context has ended, and no time", 0, -1, 0, mine},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if c.until < 0 {
				cancel(mine)
			} else {
				timer := time.AfterFunc(c.until, func() { cancel(mine) })
				defer timer.Stop()
			}
			began := time.Now()
			if err := pause.For(ctx, c.d); !errors.Is(err, c.err) || time.Since(began) != c.want {
				t.Errorf("%s: %v after %v, want %v after %v", c.name, err, time.Since(began), c.err, c.want)
			}
		})
	}
}
