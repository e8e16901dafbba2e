package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

// A GET changes nothing, so it may be sent again after any failure on the way; after an answer, if that says "later".
func ExampleEngine_Do_http() {
	server := httptest.NewServer(busyOnce())
	defer server.Close()

	engine, err := retry.New(retry.Options{Strategy: retry.BestEffort(retry.BackoffOptions{}), Budget: retry.DefaultBudgetOptions()})
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

// get makes one request and says how it failed.
func get(ctx context.Context, url string) ([]byte, retry.Failure) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, retry.Failure{Err: err, Stage: retry.StageDispatch, Refuse: retry.WhyNotBuilt}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, retry.Failure{Err: err, Stage: retry.StageInFlight, Reason: retry.ReasonNetworkError, Endpoint: request.Host}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, retry.Failure{Err: err, Stage: retry.StageInFlight, Reason: retry.ReasonNetworkError, Endpoint: request.Host}
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

// busyOnce is a server that is busy when it is first asked.
func busyOnce() http.Handler {
	asked := 0
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "hello")
	})
}
