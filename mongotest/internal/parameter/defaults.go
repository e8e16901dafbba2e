package parameter

import (
	"maps"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// SessionMinutes is how long a session that nobody uses is kept.
const SessionMinutes = 30

// Names returns the names of the parameters that a server can be started with, in order.
func Names() []string { return slices.Sorted(maps.Keys(defaults())) }

// defaults are the parameters that do not depend on the version. The rate limiter is off, and has no limit yet.
func defaults() Parameters {
	return Parameters{
		"enableTestCommands":                {truth(true), false},
		"localLogicalSessionTimeoutMinutes": {query.Int32(SessionMinutes), false},
		"logLevel":                          {query.Int32(0), true},
		"notablescan":                       {truth(false), true},
		"quiet":                             {truth(false), true},
		TTLEnabled:                          {truth(true), true},
		TTLSleep:                            {query.Int32(60), true},
		"cursorTimeoutMillis":               {query.Int64(600_000), true},
		TransactionLifetime:                 {query.Int32(60), true},
		LimiterEnabled:                      {truth(false), true},
		LimiterRate:                         {query.Int32(math.MaxInt32), true},
		LimiterBurst:                        {query.Double(math.MaxFloat64), true},
		LimiterQueue:                        {query.Int32(0), true},
	}
}

func truth(b bool) query.Value {
	return query.Value{Type: bson.TypeBoolean, Data: wire.AppendBool(nil, "", b)[2:]}
}
