package prove

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// document is the report in JSON. Times are in milliseconds, except those whose names end in _seconds.
type document struct {
	Backend     string           `json:"backend"`
	Deployment  string           `json:"deployment"`
	Settings    documentSettings `json:"settings"`
	Cells       []Result         `json:"cells"`
	Explored    *Explored        `json:"explored,omitempty"`
	AsExpected  bool             `json:"as_expected"`
	Unexpected  []string         `json:"unexpected"`
	NoVerdict   []string         `json:"no_verdict"` // because the machine was busy
	Interrupted bool             `json:"interrupted"`
	Conclusion  string           `json:"conclusion"`
	TookSeconds float64          `json:"took_seconds"`
}

type documentSettings struct {
	Seed              uint64 `json:"seed"`
	W                 string `json:"w,omitempty"`
	Writers           int    `json:"writers"`
	Operations        int    `json:"operations_acknowledged_at_least"`
	MessageHits       int    `json:"message_hits_at_least"`
	ClusterHits       int    `json:"cluster_hits_at_least"`
	MixedHits         int    `json:"mixed_hits_at_least"`
	PerDocument       int    `json:"operations_per_document_at_most"`
	ServerSelectionMS int64  `json:"server_selection,omitempty"`
	ConnectMS         int64  `json:"connect"`
	HeartbeatMS       int64  `json:"heartbeat,omitempty"`
	ElectionMS        int64  `json:"election,omitempty"`
	KeyValueMS        int64  `json:"operation,omitempty"`
	DurableMS         int64  `json:"durable_operation,omitempty"`
	BlackHoleMS       int64  `json:"black_hole,omitempty"`
	LockMS            int64  `json:"lock,omitempty"`
	PauseMS           int64  `json:"pause_after_an_error,omitempty"`
	ReplicationLagMS  int64  `json:"replication_lag"`
	LoadLimitMS       int64  `json:"load_limit"`
	Parallel          int    `json:"cells_side_by_side"` // at most
}

func (s Settings) document(perDocument int) documentSettings {
	ms := func(d time.Duration) int64 { return d.Milliseconds() }
	return documentSettings{
		Seed: s.Seed, W: s.W, Writers: s.Size.Writers, Operations: s.Size.Operations, MessageHits: s.Size.MessageHits,
		ClusterHits: s.Size.ClusterHits, MixedHits: s.Size.MixedHits, PerDocument: perDocument,
		ServerSelectionMS: ms(s.Timing.ServerSelection), ConnectMS: ms(s.Timing.Connect),
		HeartbeatMS: ms(s.Timing.Heartbeat), ElectionMS: ms(s.Timing.Election),
		KeyValueMS: ms(s.Timing.KeyValue), DurableMS: ms(s.Timing.Durable), BlackHoleMS: ms(s.Timing.BlackHole),
		LockMS: ms(s.Timing.Lock), PauseMS: ms(s.Timing.Pause),
		ReplicationLagMS: ms(s.ReplicationDelay), LoadLimitMS: ms(s.LoadLimit), Parallel: s.Parallel,
	}
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	d := document{
		Backend: r.Backend.Title, Deployment: r.Deployment, Settings: r.Settings.document(r.Backend.perDocument), Cells: r.Results, Explored: r.Explored, Unexpected: []string{}, NoVerdict: []string{},
		Interrupted: r.Interrupted, Conclusion: r.Conclusion(), TookSeconds: r.Took.Seconds(),
	}
	for _, c := range r.Unexpected() {
		d.Unexpected = append(d.Unexpected, c.Strategy+"/"+c.Failure)
	}
	for _, c := range r.Disturbed() {
		d.NoVerdict = append(d.NoVerdict, c.Strategy+"/"+c.Failure)
	}
	d.AsExpected = len(d.Unexpected) == 0 && len(d.NoVerdict) == 0
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
