package operation

import (
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// endSessionsBatch is how many sessions one endSessions command names at most (sessions specification).
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

// endSessions tells the servers that the pooled sessions are not needed any more. It is a courtesy: errors are
// ignored, and where no server is known it is not sent.
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
			Session: NoSession,
		}
		_ = r.Run(ctx, op)
	}
}
