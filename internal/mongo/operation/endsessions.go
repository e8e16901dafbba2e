package operation

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// endSessionsBatch is the largest number of sessions in one endSessions command (Driver Sessions specification).
const endSessionsBatch = 10_000

type endSessionsCommand struct{ ids [][]byte }

func (e *endSessionsCommand) AppendTo(b []byte, _ Attempt) ([]byte, error) {
	at, b := wire.BeginArray(b, "endSessions")
	for i, id := range e.ids {
		b = wire.AppendDocument(b, wire.ArrayKey(i), id)
	}
	return wire.EndDocument(b, at), nil
}

func (e *endSessionsCommand) Accept(*Reply) error { return nil }

// endSessions ends the pooled sessions on the servers. It is optional, because a server ends unused sessions itself:
// so errors are ignored, and without a known server nothing is sent.
func (r *Runner) endSessions(ctx context.Context) {
	ids := r.sessions.drain()
	if len(ids) == 0 {
		return
	}
	selection := &topology.Selection{ReadPref: readpref.PrimaryPreferred()}
	suitable, err := topology.Select(r.cfg.Cluster.Snapshot().Description, selection, nil)
	if err != nil || len(suitable) == 0 {
		return
	}
	for batch := range slices.Chunk(ids, endSessionsBatch) {
		op := &Operation{
			Name: "endSessions", Database: "admin", Kind: Generic, Selection: selection, Command: &endSessionsCommand{ids: batch},
			Session: NoSession, OwnTimeLimit: true,
		}
		_ = r.Run(ctx, op)
	}
}
