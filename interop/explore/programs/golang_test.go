package programs

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/explore"
)

// inGo explores a program in Go: each failure at each message, and for the mended twin some pairs of failures.
func inGo(t *testing.T, p *program, twin string) {
	t.Helper()
	do, depth := p.mistake, 1
	if twin == mended {
		do, depth = p.mended, 2 // two failures find no mistake either
	}
	explore.Run(t, func(e *explore.Exploration) {
		said := do(e.Context(), connect(e))
		e.Logf("the program said %v", said)
		// The program's own client may have connections that a failure has broken.
		e.Check(func() error { return p.audit(e.Context(), connect(e), said) })
	}, explore.InMemory(), explore.Depth(depth), explore.Samples(100))
}

func connect(e *explore.Exploration) *mongo.Client {
	client, err := mongo.Connect(options.Client().ApplyURI(e.URI()).SetDialer(e.Dialer()))
	if err != nil {
		e.Fatalf("%v", err)
	}
	e.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client
}
