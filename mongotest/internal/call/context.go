package call

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/pipeline"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Context is what expressions and stages may look at besides a document.
func (x *Call) Context() pipeline.Context {
	t := x.Client.Member.Data.Newest()
	cluster := query.Value{}
	if !x.Client.Set.Standalone {
		cluster = query.Value{Type: bson.TypeTimestamp, Data: binary.LittleEndian.AppendUint64(nil, uint64(t))}
	}
	return pipeline.Context{
		Source: x.Client.Cluster.Source(x), Work: x.Work(), Now: time.Now().UnixMilli(), ClusterTime: cluster, Rand: rand.Float64,
		NewID: func() [12]byte { return bson.NewObjectID() },
	}
}
