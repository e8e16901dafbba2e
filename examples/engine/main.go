// Command engine retries HTTP requests with the engine alone. A GET may be sent again; a POST whose reply was lost may not:
//
//	go run ./examples/engine
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/holdfast-db/holdfast/retry"
)

var errBusy = errors.New("the server is busy")

func main() {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		switch requests {
		case 1:
			w.WriteHeader(http.StatusServiceUnavailable) // nothing was done
		case 2, 4:
			panic(http.ErrAbortHandler) // the connection is closed without a reply
		default:
			fmt.Fprint(w, r.Method, " done")
		}
	}))
	defer server.Close()
	for _, c := range []struct {
		method      string
		idempotency retry.Idempotency
	}{{http.MethodGet, retry.Idempotent}, {http.MethodPost, retry.NotIdempotent}} {
		text := ""
		err := retry.Run(context.Background(), c.idempotency, classify, func(ctx context.Context) (err error) {
			text, err = send(ctx, c.method, server.URL)
			return err
		})
		if err != nil {
			fmt.Println(c.method, "failed:", err)
			continue
		}
		fmt.Println(text)
	}
}

// classify says what an error means: whether the server did something, or nobody knows.
func classify(err error) retry.Class {
	switch {
	case errors.Is(err, errBusy):
		return retry.ClassTemporary
	case errors.Is(err, io.EOF):
		return retry.ClassNoAnswer
	default:
		return retry.ClassUnknown // not retried
	}
}

func send(ctx context.Context, method, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return "", err
	}
	request.GetBody = nil // else net/http itself sends it again
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusServiceUnavailable {
		return "", errBusy
	}
	text, err := io.ReadAll(response.Body)
	return string(text), err
}
