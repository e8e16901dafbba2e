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
		"enableTestCommands":                {truth(true), false, true},
		"localLogicalSessionTimeoutMinutes": {query.Int32(SessionMinutes), false, true},
		logLevel:                            {query.Int32(0), true, true},
		"notablescan":                       {truth(false), true, true},
		"quiet":                             {truth(false), true, true},
		RequireAPI:                          {truth(false), true, true},
		TTLEnabled:                          {truth(true), true, true},
		TTLSleep:                            {query.Int32(60), true, true},
		"cursorTimeoutMillis":               {query.Int64(600_000), true, true},
		TransactionLifetime:                 {query.Int32(60), true, true},
		LimiterEnabled:                      {truth(false), true, true},
		LimiterRate:                         {query.Int32(math.MaxInt32), true, true},
		LimiterBurst:                        {query.Double(math.MaxFloat64), true, true},
		LimiterQueue:                        {query.Int32(0), true, true},
	}
}

// listOf returns an array of texts.
func listOf(list ...string) query.Value {
	doc := wire.AppendStrings(nil, "", list)
	return query.Value{Type: bson.TypeArray, Data: doc[2:]}
}

func truth(b bool) query.Value {
	return query.Value{Type: bson.TypeBoolean, Data: wire.AppendBool(nil, "", b)[2:]}
}
