package metrics

import "slices"

var (
	secondsBoundaries = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}
	rowsBoundaries    = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000}

	operationAttributes = []string{
		"db.system.name", "db.namespace", "db.collection.name", "db.operation.name",
		"couchbase.service", "couchbase.scope.name", "couchbase.collection.name", "error.type",
	}
	poolAttributes = []string{"db.client.connection.pool.name"}
)

// definitions has the metrics in the order of their numbers.
var definitions = numbered([]Definition{
	OperationDuration: {
		Name: "db.client.operation.duration", Unit: "s", Kind: Histogram, Boundaries: secondsBoundaries, Attributes: operationAttributes,
		Description: "Time from the call of an operation until its result, retries included.",
	},
	ReturnedRows: {
		Name: "db.client.response.returned_rows", Unit: "{row}", Kind: Histogram, Integer: true, Boundaries: rowsBoundaries, Attributes: operationAttributes,
		Description: "Documents or rows in a reply.",
	},
	ConnectionCount: {
		Name: "db.client.connection.count", Unit: "{connection}", Kind: UpDownCounter, Integer: true,
		Attributes:  []string{"db.client.connection.pool.name", "db.client.connection.state"},
		Description: "Connections that are idle, or used by an operation.",
	},
	ConnectionIdleMax:         ofPool("idle.max", "{connection}", UpDownCounter, "Limit of the number of idle connections; absent if there is none."),
	ConnectionIdleMin:         ofPool("idle.min", "{connection}", UpDownCounter, "Number of connections that the pool makes without being asked."),
	ConnectionMax:             ofPool("max", "{connection}", UpDownCounter, "Limit of the number of connections; absent if there is none."),
	ConnectionPendingRequests: ofPool("pending_requests", "{request}", UpDownCounter, "Operations that wait for a connection."),
	ConnectionTimeouts:        ofPool("timeouts", "{timeout}", Counter, "Operations whose time ended while they waited for a connection."),
	ConnectionCreateTime:      ofPool("create_time", "s", Histogram, "Time to make a connection, with its handshake and login."),
	ConnectionWaitTime:        ofPool("wait_time", "s", Histogram, "Time until an operation got a connection."),
	ConnectionUseTime:         ofPool("use_time", "s", Histogram, "Time that an operation kept a connection."),
	RetryAttempts: {
		Name: "holdfast.retry.attempts", Unit: "{attempt}", Kind: Counter, Integer: true,
		Attributes:  []string{"reason", "stage", "db.operation.name", "server.address", "server.port"},
		Description: "Failed attempts after which another one was decided.",
	},
	RetryStopped: {
		Name: "holdfast.retry.stopped", Unit: "{operation}", Kind: Counter, Integer: true, Attributes: []string{"stop_reason"},
		Description: "Operations, or messages of them, that failed without another attempt.",
	},
	RetryBudgetTokens: {
		Name: "holdfast.retry.budget.tokens", Unit: "{token}", Kind: Gauge,
		Description: "Tokens in the budget of retries, each of which costs one; of several clients the smallest number.",
	},
	BreakerState: {
		Name: "holdfast.breaker.state", Unit: "{state}", Kind: Gauge, Integer: true, Attributes: []string{"server.address", "server.port"},
		Description: "State of a server's circuit breaker: 0 closed, 1 half-open, 2 open; of several clients the largest.",
	},
})

// ofPool returns a metric of connection pools. A histogram is one of seconds.
func ofPool(name, unit string, kind Kind, description string) Definition {
	d := Definition{Name: "db.client.connection." + name, Unit: unit, Kind: kind, Attributes: poolAttributes, Description: description, Integer: unit != "s"}
	if kind == Histogram {
		d.Boundaries = secondsBoundaries
	}
	return d
}

func numbered(list []Definition) []Definition {
	for i := range list {
		list[i].Metric = Metric(i)
	}
	return list
}

// Definitions returns the metrics, each at the index that is its [Metric].
func Definitions() []Definition { return slices.Clone(definitions) }
