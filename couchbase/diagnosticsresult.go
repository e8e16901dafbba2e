package couchbase

import (
	"encoding/json"
	"time"
)

// EndpointState is the state of one connection.
type EndpointState uint

// The states.
const (
	EndpointStateDisconnected EndpointState = iota + 1
	EndpointStateConnecting
	EndpointStateConnected
	EndpointStateDisconnecting
)

func (s EndpointState) reportName() string {
	switch s {
	case EndpointStateDisconnected:
		return "disconnected"
	case EndpointStateConnecting:
		return "connecting"
	case EndpointStateConnected:
		return "connected"
	case EndpointStateDisconnecting:
		return "disconnecting"
	default:
		return ""
	}
}

// ClusterState is the state of all connections together.
type ClusterState uint

// The states.
const (
	ClusterStateOnline   ClusterState = iota + 1 // all are connected
	ClusterStateDegraded                         // some are connected
	ClusterStateOffline                          // none is connected
)

func (s ClusterState) reportName() string {
	switch s {
	case ClusterStateOnline:
		return "online"
	case ClusterStateDegraded:
		return "degraded"
	case ClusterStateOffline:
		return "offline"
	default:
		return ""
	}
}

// EndPointDiagnostics is the state of one connection.
type EndPointDiagnostics struct {
	Type         ServiceType
	ID           string
	Local        string // the client's address
	Remote       string // the node's address
	LastActivity time.Time
	State        EndpointState
	Namespace    string // the bucket, for key-value connections
}

// DiagnosticsResult is the report of [Cluster.Diagnostics].
type DiagnosticsResult struct {
	ID       string
	Services map[string][]EndPointDiagnostics
	State    ClusterState
}

type diagnosticsEndpointJSON struct {
	ID           string `json:"id,omitempty"`
	Microseconds int64  `json:"last_activity_us,omitempty"` // since the last activity
	Remote       string `json:"remote,omitempty"`
	Local        string `json:"local,omitempty"`
	State        string `json:"state,omitempty"`
	Namespace    string `json:"namespace,omitempty"`
}

// MarshalJSON returns the report as RFC 0034 has it.
func (report *DiagnosticsResult) MarshalJSON() ([]byte, error) {
	services := make(map[string][]diagnosticsEndpointJSON)
	for _, endpoints := range report.Services {
		for _, e := range endpoints {
			one := diagnosticsEndpointJSON{ID: e.ID, Remote: e.Remote, Local: e.Local, State: e.State.reportName(), Namespace: e.Namespace}
			if !e.LastActivity.IsZero() {
				one.Microseconds = time.Since(e.LastActivity).Microseconds()
			}
			service := e.Type.reportName()
			services[service] = append(services[service], one)
		}
	}
	return json.Marshal(struct {
		Version  int                                  `json:"version"`
		SDK      string                               `json:"sdk"`
		ID       string                               `json:"id"`
		Services map[string][]diagnosticsEndpointJSON `json:"services"`
		State    string                               `json:"state"`
	}{reportVersion, Identifier(), report.ID, services, report.State.reportName()})
}
