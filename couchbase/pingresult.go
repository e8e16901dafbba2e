package couchbase

import (
	"encoding/json"
	"time"
)

// PingState is the outcome of the ping of one endpoint.
type PingState uint

// The outcomes.
const (
	PingStateOk      PingState = iota + 1 // it answered
	PingStateTimeout                      // it did not answer in time
	PingStateError                        // it could not be asked
)

func (s PingState) reportName() string {
	switch s {
	case PingStateOk:
		return "ok"
	case PingStateTimeout:
		return "timeout"
	case PingStateError:
		return "error"
	default:
		return ""
	}
}

// EndpointPingReport is the ping of one endpoint.
type EndpointPingReport struct {
	ID        string
	Local     string // the client's address
	Remote    string // the node's address
	State     PingState
	Error     string
	Namespace string // the bucket, for key-value endpoints
	Latency   time.Duration
}

// PingResult is the report of [Cluster.Ping] and [Bucket.Ping].
type PingResult struct {
	ID       string
	Services map[ServiceType][]EndpointPingReport
}

// reportVersion is the version of the JSON of reports (RFC 0034, RFC 0045).
const reportVersion = 2

type pingEndpointJSON struct {
	ID           string `json:"id,omitempty"`
	Local        string `json:"local,omitempty"`
	Remote       string `json:"remote,omitempty"`
	State        string `json:"state,omitempty"`
	Error        string `json:"error,omitempty"`
	Namespace    string `json:"namespace,omitempty"`
	Microseconds int64  `json:"latency_us"`
}

// MarshalJSON returns the report as RFC 0045 has it.
func (report *PingResult) MarshalJSON() ([]byte, error) {
	services := make(map[string][]pingEndpointJSON)
	for service, endpoints := range report.Services {
		list := make([]pingEndpointJSON, 0, len(endpoints))
		for _, e := range endpoints {
			list = append(list, pingEndpointJSON{
				ID: e.ID, Local: e.Local, Remote: e.Remote, State: e.State.reportName(), Error: e.Error, Namespace: e.Namespace,
				Microseconds: e.Latency.Microseconds(),
			})
		}
		services[service.reportName()] = list
	}
	return json.Marshal(struct {
		Version  int                           `json:"version"`
		SDK      string                        `json:"sdk"`
		ID       string                        `json:"id"`
		Services map[string][]pingEndpointJSON `json:"services"`
	}{reportVersion, Identifier(), report.ID, services})
}
