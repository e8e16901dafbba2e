package health_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/health"
)

// In a program, pools is the method PoolStats of a client.
func ExampleHandler() {
	pools := func() []telemetry.Pool {
		return []telemetry.Pool{{Address: "a:27017", Ready: true, InUse: 3, Idle: 7}, {Address: "b:27017"}}
	}
	answer := httptest.NewRecorder()
	health.Handler(pools).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/healthz", http.NoBody))
	fmt.Println(answer.Code, health.State(pools()))
	// Output: 200 degraded
}
