package mongotest

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/pipeline"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// context is what expressions and stages may look at besides a document.
func (x *call) context() pipeline.Context {
	t := x.client.member.Data.Newest()
	cluster := query.Value{}
	if !x.client.set.Standalone {
		cluster = query.Value{Type: bson.TypeTimestamp, Data: binary.LittleEndian.AppendUint64(nil, uint64(t))}
	}
	return pipeline.Context{
		Source: x.client.cluster.source(x), Work: x.work(), Now: time.Now().UnixMilli(), ClusterTime: cluster, Rand: rand.Float64,
		NewID: func() [12]byte { return bson.NewObjectID() },
	}
}
