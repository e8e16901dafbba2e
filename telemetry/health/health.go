// Package health is a health check for net/http that shows the connection pools of a client.
//
//	http.Handle("/healthz/mongo", health.Handler(client.PoolStats))
package health

import (
	"encoding/json"
	"net/http"

	"github.com/holdfast-db/holdfast/telemetry"
)

// The states of a client.
const (
	OK       = "ok"       // operations can be sent to all servers
	Degraded = "degraded" // to some of them
	Down     = "down"     // to none
)

// State returns the state of a client with these pools.
func State(pools []telemetry.Pool) string {
	ready := 0
	for _, p := range pools {
		if p.Ready {
			ready++
		}
	}
	switch ready {
	case 0:
		return Down
	case len(pools):
		return OK
	default:
		return Degraded
	}
}

// Handler returns a handler that answers with the state of a client and its pools as JSON: with the status 200, or with 503 if no operation can be sent
// to any server. It uses no network, so a check costs the servers nothing. It is safe for concurrent use if pools is, as Client.PoolStats and
// Cluster.PoolStats are. Times are in milliseconds. The field service is absent for MongoDB, and closed if no connection was closed.
func Handler(pools func() []telemetry.Pool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		known := pools()
		answer := report{Status: State(known), Pools: make([]pool, 0, len(known))}
		for _, p := range known {
			answer.Pools = append(answer.Pools, of(p))
		}
		body, _ := json.Marshal(answer) // texts and numbers
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if answer.Status == Down {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write(append(body, '\n')) // the caller may have left
	})
}

type report struct {
	Status string `json:"status"`
	Pools  []pool `json:"pools"`
}

type pool struct {
	Address     string            `json:"address"`
	Service     string            `json:"service,omitempty"`
	Ready       bool              `json:"ready"`
	InUse       int               `json:"inUse"`
	Idle        int               `json:"idle"`
	Pending     int               `json:"pending"`
	Waiting     int               `json:"waiting"`
	OldestWait  int64             `json:"oldestWaitMS"`
	LongestWait int64             `json:"longestWaitMS"`
	Min         int               `json:"min"`
	Max         int               `json:"max"`
	Made        uint64            `json:"made"`
	Failed      uint64            `json:"failed"`
	TimedOut    uint64            `json:"timedOut"`
	Closed      map[string]uint64 `json:"closed,omitempty"`
}

func of(p telemetry.Pool) pool {
	return pool{
		Address: p.Address, Service: p.Service, Ready: p.Ready, InUse: p.InUse, Idle: p.Idle, Pending: p.Pending, Waiting: p.Waiting,
		OldestWait: p.OldestWait.Milliseconds(), LongestWait: p.LongestWait.Milliseconds(), Min: p.Min, Max: p.Max,
		Made: p.Made, Failed: p.Failed, TimedOut: p.TimedOut, Closed: p.Closed,
	}
}
