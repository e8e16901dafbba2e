package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The error of a checkout that found no connection in time says why the last connection could not be made, unless a later one was made.
func TestTheErrorOfACheckoutHasTheErrorOfTheLastConnection(t *testing.T) {
	for _, c := range []struct {
		name   string
		dials  []error // of each connection
		failed bool
	}{
		{"the last one failed", []error{nil, errDown}, true},
		{"a later one was made", []error{errDown, nil}, false},
		{"none failed", []error{nil}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dials := c.dials
				s := bare(t, &peer{hello: standalone(), dial: func(ctx context.Context) (err error) {
					if len(dials) == 0 {
						<-ctx.Done()
						return ctx.Err()
					}
					err, dials = dials[0], dials[1:]
					return err
				}}, nil)
				found(t, s, standalone())
				for range c.dials {
					if conn, err := s.CheckOut(t.Context(), nil); err == nil {
						defer s.CheckIn(conn)
					}
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := s.CheckOut(ctx, nil)
				var e *CheckOutError
				if !errors.As(err, &e) || errors.Is(e.Failed, errDown) != c.failed {
					t.Errorf("error: %v", err)
				}
			})
		})
	}
}
