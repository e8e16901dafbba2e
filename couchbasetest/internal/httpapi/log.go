package httpapi

import (
	"sync"
	"time"
)

// Record is a request with how it was answered.
type Record struct {
	Request
	// Done is whether the answer has ended. Until then the fields below say how far it is.
	Done   bool
	Status int // 0: nothing was sent
	Rows   int // rows that were written
	Bytes  int64
	// Left is whether the client left before the answer had ended: it cancelled the request.
	Left bool
	// Took is how long the answer took.
	Took time.Duration
}

// maxRecords is how many records are kept: those of the last requests.
const maxRecords = 20_000

// log keeps the last records.
type log struct {
	mu      sync.Mutex
	records []*Record
}

// add begins a record.
func (l *log) add(r *Request) *Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.records) >= maxRecords {
		l.records = append(make([]*Record, 0, maxRecords), l.records[maxRecords/2:]...)
	}
	rec := &Record{Request: *r}
	l.records = append(l.records, rec)
	return rec
}

// change changes a record.
func (l *log) change(rec *Record, change func(*Record)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(rec)
}

// Requests returns the requests that the selection holds for, oldest first. Of a long series only the last ones are kept, at
// least 10,000.
func (s *Services) Requests(w When) []Record {
	s.log.mu.Lock()
	all := make([]Record, len(s.log.records))
	for i, rec := range s.log.records {
		all[i] = *rec
	}
	s.log.mu.Unlock()
	selected := all[:0]
	for i := range all {
		if w.selects(&all[i].Request) {
			selected = append(selected, all[i])
		}
	}
	return selected
}

// ForgetRequests empties the record of requests.
func (s *Services) ForgetRequests() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.log.records = nil
}
