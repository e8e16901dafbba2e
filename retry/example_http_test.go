package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

// A GET changes nothing, so it may be sent again when the connection broke, and when the server answered that it is busy.
func ExampleEngine_Do_http() {
	server := httptest.NewServer(busyOnce())
	defer server.Close()

	engine, err := retry.New(retry.Options{
		Strategy: retry.Limited(5, retry.BestEffort(retry.BackoffOptions{})), Budget: retry.DefaultBudgetOptions(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var body []byte
	err = engine.Do(ctx, retry.Operation{Effect: retry.EffectReadOnly}, func(ctx context.Context, _ int) retry.Failure {
		var failure retry.Failure
		body, failure = get(ctx, server.URL)
		return failure
	})
	fmt.Println(string(body), err)
	// Output: hello <nil>
}

// get sends one request and says how it failed.
func get(ctx context.Context, url string) ([]byte, retry.Failure) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, retry.Failure{Err: err, Stage: retry.StageDispatch, Refuse: retry.WhyNotBuilt}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, noAnswer(err, request.Host)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, noAnswer(err, request.Host)
	}
	if response.StatusCode == http.StatusOK {
		return body, retry.Failure{}
	}
	failure := retry.Failure{Err: errors.New(response.Status), Stage: retry.StageResponded, Endpoint: request.Host}
	if response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable {
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		failure.Reason, failure.RetryAfter = retry.ReasonServiceResponseCodeIndicated, time.Duration(seconds)*time.Second
	}
	return nil, failure
}

// noAnswer is the failure of a request without a complete answer. Only a broken connection is worth a retry: other errors, for
// example an unknown protocol or a wrong certificate, keep the unknown reason.
func noAnswer(err error, host string) retry.Failure {
	failure := retry.Failure{Err: err, Stage: retry.StageInFlight, Endpoint: host}
	var broken *net.OpError
	if errors.As(err, &broken) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		failure.Reason = retry.ReasonNetworkError
	}
	return failure
}

// busyOnce is a server that is busy at its first request.
func busyOnce() http.Handler {
	requests := 0
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests++; requests == 1 {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "hello")
	})
}
