package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/holdfast-db/holdfast/internal/router"
)

// admin is the HTTP server of a router for those who operate it. The zero admin serves nothing.
type admin struct {
	server *http.Server
	at     string
	failed chan error
}

// adminLimit is how long a request, or the wait for the next one, may take.
const adminLimit = 30 * time.Second

// startAdmin serves --admin, if it is given.
func (c *routerCommand) startAdmin(r *router.Router, metrics http.Handler) (*admin, error) {
	if c.Admin == "" {
		return &admin{}, nil
	}
	l, err := net.Listen("tcp", c.Admin)
	if err != nil {
		return nil, fmt.Errorf("--admin: %w", err)
	}
	a := &admin{at: l.Addr().String(), failed: make(chan error, 1), server: &http.Server{
		Handler: adminHandler(r.Ready, metrics), ErrorLog: log.New(io.Discard, "", 0),
		ReadTimeout: adminLimit, WriteTimeout: adminLimit, IdleTimeout: adminLimit,
	}}
	go func() {
		if err := a.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			a.failed <- fmt.Errorf("--admin: %w", err)
		}
	}()
	return a, nil
}

func (a *admin) close() {
	if a.server != nil {
		_ = a.server.Close()
	}
}

// place is the end of the line that says where clients connect.
func (a *admin) place() string {
	if a.server == nil {
		return ""
	}
	return "; admin at http://" + a.at + "/"
}

// adminHandler serves whether the process lives, whether clients should come, and the metrics.
func adminHandler(ready func() (string, bool), metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answerLine(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		text, ok := ready()
		if !ok {
			answerLine(w, http.StatusServiceUnavailable, text)
			return
		}
		answerLine(w, http.StatusOK, text)
	})
	mux.Handle("GET /metrics", metrics)
	return mux
}

func answerLine(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // the caller may have left
}
