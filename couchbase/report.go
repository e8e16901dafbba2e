package couchbase

import (
	"encoding/json"
	"sync"
	"time"
)

// reportedRequest is an operation in a report of slow operations or of orphans (RFC 0035).
type reportedRequest struct {
	Name          string `json:"operation_name,omitempty"`
	Total         int64  `json:"total_duration_us,omitempty"`
	Encode        int64  `json:"encode_duration_us,omitempty"`
	LastDispatch  int64  `json:"last_dispatch_duration_us,omitempty"`
	TotalDispatch int64  `json:"total_dispatch_duration_us,omitempty"`
	LastServer    int64  `json:"last_server_duration_us,omitempty"`
	TotalServer   int64  `json:"total_server_duration_us,omitempty"`
	OperationID   string `json:"operation_id,omitempty"`
	LocalID       string `json:"last_local_id,omitempty"`
	LocalSocket   string `json:"last_local_socket,omitempty"`
	RemoteSocket  string `json:"last_remote_socket,omitempty"`
	Timeout       int64  `json:"timeout_ms,omitempty"`
}

// sample has the slowest of some operations, slowest first, and the count of all.
type sample struct {
	Count    uint64            `json:"total_count"`
	Requests []reportedRequest `json:"top_requests"`
}

// add adds an operation and keeps at most size of them.
func (s *sample) add(r reportedRequest, size int) {
	s.Count++
	at := len(s.Requests)
	for at > 0 && s.Requests[at-1].Total < r.Total {
		at--
	}
	if at >= size {
		return
	}
	s.Requests = append(s.Requests, reportedRequest{})
	copy(s.Requests[at+1:], s.Requests[at:])
	s.Requests[at] = r
	s.Requests = s.Requests[:min(len(s.Requests), size)]
}

// reporter logs a report some time after the first operation of it. It has no goroutine and, while there is nothing to report, no timer.
type reporter struct {
	title    string
	interval time.Duration
	size     int

	mu       sync.Mutex
	services map[string]*sample
	timer    *time.Timer // nil: nothing is to be reported
	closed   bool
}

// add adds an operation to the next report.
func (r *reporter) add(service string, request reportedRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.size == 0 {
		return
	}
	if r.services == nil {
		r.services = make(map[string]*sample)
	}
	s := r.services[service]
	if s == nil {
		s = &sample{}
		r.services[service] = s
	}
	s.add(request, r.size)
	if r.timer == nil {
		r.timer = time.AfterFunc(r.interval, r.report)
	}
}

// report logs what there is.
func (r *reporter) report() {
	r.mu.Lock()
	services := r.services
	r.services, r.timer = nil, nil
	r.mu.Unlock()
	if len(services) == 0 {
		return
	}
	if b, err := json.Marshal(services); err == nil {
		logf(LogInfo, "%s: %s", r.title, b)
	}
}

// close logs what there is, and ends the reports.
func (r *reporter) close() {
	r.mu.Lock()
	r.closed = true
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Unlock()
	r.report()
}
