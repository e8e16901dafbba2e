package operation

import (
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// NewReadsRequest begins a request that keeps no connection between its operations. Nobody need end it. It may last for days, as the
// connection of a router's client does, so a pin ends in two more cases than the document of 2014 has: see outlived.
func (r *Runner) NewReadsRequest() *Request { return &Request{runner: r, readsOnly: true} }

// Unpin ends the pin: the next read selects its member anew.
func (q *Request) Unpin() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pin = memberPin{}
}

// outlived reports whether the pinned member d should serve no longer, although it could: it is too stale for the preference, or it is a
// fallback and there is a suitable member of the preferred type.
func outlived(topo *topology.Description, d *topology.Server, want *topology.Selection) bool {
	return want.TooStale(topo, d) || isFallback(d.Type, want.ReadPref) && !isSelected(topo, d.Type, want)
}

// isFallback reports whether a preference has a member of this type only while there is none of the preferred type.
func isFallback(t topology.ServerType, rp *readpref.ReadPref) bool {
	switch orPrimary(rp).Mode() {
	case readpref.PrimaryPreferredMode:
		return t == topology.RSSecondary
	case readpref.SecondaryPreferredMode:
		return t == topology.RSPrimary
	case readpref.PrimaryMode, readpref.SecondaryMode, readpref.NearestMode:
	}
	return false
}

// isSelected reports whether a selection would take a member of this type now, or none at all. With the modes that prefer a type all members
// of a selection have the same.
func isSelected(topo *topology.Description, t topology.ServerType, want *topology.Selection) bool {
	var room [8]*topology.Server
	suitable, err := topology.Select(topo, want, room[:0])
	return err != nil || len(suitable) == 0 || suitable[0].Type == t
}
