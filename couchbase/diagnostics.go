package couchbase

import (
	"errors"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
)

// DiagnosticsOptions are the options of [Cluster.Diagnostics].
type DiagnosticsOptions struct {
	ReportID string // empty: a random one
}

// Diagnostics reports the state of the key-value connections of the buckets that were opened. It uses no network.
func (c *Cluster) Diagnostics(opts *DiagnosticsOptions) (*DiagnosticsResult, error) {
	if opts == nil {
		opts = &DiagnosticsOptions{}
	}
	if err := c.usable(); err != nil {
		return nil, err
	}
	report := &DiagnosticsResult{ID: opts.ReportID, Services: make(map[string][]EndPointDiagnostics)}
	if report.ID == "" {
		report.ID = newID()
	}
	service := ServiceTypeKeyValue.reportName()
	for _, b := range c.cluster.Buckets() {
		report.Services[service] = append(report.Services[service], diagnose(b)...)
	}
	report.State = stateOf(report.Services[service])
	return report, nil
}

// diagnose returns the state of the connections of a bucket.
func diagnose(b *cluster.Bucket) []EndPointDiagnostics {
	s := b.Snapshot()
	if s == nil {
		return []EndPointDiagnostics{{Type: ServiceTypeKeyValue, ID: newID(), State: EndpointStateConnecting, Namespace: b.Name()}}
	}
	var all []EndPointDiagnostics
	for _, e := range s.Endpoints {
		if e == nil {
			continue
		}
		d := EndPointDiagnostics{Type: ServiceTypeKeyValue, Remote: e.Address(), State: EndpointStateConnecting, Namespace: b.Name()}
		switch conn := e.Conn(); {
		case conn != nil:
			d.ID, d.Local, d.LastActivity, d.State = conn.ID(), conn.Local(), conn.LastUsed(), EndpointStateConnected
		case errors.Is(e.Err(), cluster.ErrClosed):
			d.ID, d.State = newID(), EndpointStateDisconnected
		default:
			d.ID = newID()
		}
		all = append(all, d)
	}
	return all
}

// stateOf returns the state of all connections together.
func stateOf(connections []EndPointDiagnostics) ClusterState {
	connected := 0
	for _, c := range connections {
		if c.State == EndpointStateConnected {
			connected++
		}
	}
	switch connected {
	case 0:
		return ClusterStateOffline
	case len(connections):
		return ClusterStateOnline
	default:
		return ClusterStateDegraded
	}
}
