package router_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router"
)

// Serve, Shutdown and Close may come in any order, and more than once.
func TestServeAndCloseInAnyOrder(t *testing.T) {
	inWorld(t, func(w *world) {
		r, err := router.New(router.Config{Upstream: options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer())})
		if err != nil {
			w.Fatal(err)
		}
		ended := make(chan error, 3)
		serve := func(at string) {
			l, err := w.network.Listen(at)
			if err != nil {
				w.Fatal(err)
			}
			go func() { ended <- r.Serve(l) }()
		}
		serve("a:1")
		serve("b:1")
		w.dialTo("a:1").must(d("ping", 1))
		w.dialTo("b:1").must(d("ping", 1))
		for range 2 {
			go r.Shutdown(w.Context())
			go r.Close()
		}
		r.Shutdown(w.Context())
		r.Close()
		serve("c:1")
		for range cap(ended) {
			if err := <-ended; !errors.Is(err, router.ErrClosed) {
				w.Errorf("Serve: %v", err)
			}
		}
		if n := r.Clients(); n != 0 {
			w.Errorf("%d clients are connected", n)
		}
	})
}
