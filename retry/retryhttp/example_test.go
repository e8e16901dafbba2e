package retryhttp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/retryhttp"
)

// The server asks to be called again at a date, which is over at once. A PUT may be sent twice. A POST may not, because the answer
// 503 does not say that nothing was done; so its caller gets the response.
func Example() {
	server := httptest.NewServer(busyOnce())
	defer server.Close()
	engine, err := retry.New(retry.Options{Strategy: retry.Limited(5, retry.BestEffort(retry.BackoffOptions{}))})
	if err != nil {
		fmt.Println(err)
		return
	}
	transport, err := retryhttp.NewTransport(retryhttp.Options{Engine: engine})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	for _, method := range []string{http.MethodPut, http.MethodPost} {
		request, err := http.NewRequest(method, server.URL+"/"+method, strings.NewReader("blue"))
		if err != nil {
			fmt.Println(err)
			return
		}
		response, err := client.Do(request)
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		fmt.Println(method, response.StatusCode, strings.TrimSpace(string(text)))
	}
	// Output:
	// PUT 200 stored blue
	// POST 503 later
}

// busyOnce is a server that is busy at the first request for each path.
func busyOnce() http.Handler {
	known := map[string]bool{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !known[r.URL.Path] {
			known[r.URL.Path] = true
			w.Header().Set("Retry-After", time.Now().UTC().Format(http.TimeFormat))
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "stored %s", body)
	})
}
