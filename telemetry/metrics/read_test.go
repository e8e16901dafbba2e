package metrics_test

import (
	"testing"

	"github.com/holdfast-db/holdfast/telemetry"
)

// client returns a client with one pool, and a budget unless it is negative.
func client(p telemetry.Pool, budget float64, breakers ...telemetry.Breaker) *telemetry.Client {
	limits := telemetry.Limits{Breakers: breakers}
	if budget >= 0 {
		limits.Budget = &budget
	}
	return &telemetry.Client{
		System: telemetry.MongoDB,
		Pools:  func() []telemetry.Pool { return []telemetry.Pool{p} },
		Limits: func() telemetry.Limits { return limits },
	}
}

func TestTheStatesOfClientsAreRead(t *testing.T) {
	_, source, tracer := newMemory()
	compare(t, read(source), "")
	first := client(telemetry.Pool{Address: "a:1", InUse: 1, Idle: 2, Waiting: 3, Min: 4, Max: 100}, 7.5,
		telemetry.Breaker{Address: "a:1", State: "half-open"}, telemetry.Breaker{Address: "a:2", State: "open"}, telemetry.Breaker{Address: "/s", State: "closed"})
	tracer.ClientOpened(first)
	alone := `
	|db.client.connection.count db.client.connection.pool.name=a:1 db.client.connection.state=idle 2
	|db.client.connection.count db.client.connection.pool.name=a:1 db.client.connection.state=used 1
	|db.client.connection.pending_requests db.client.connection.pool.name=a:1 3
	|db.client.connection.idle.min db.client.connection.pool.name=a:1 4
	|db.client.connection.idle.max db.client.connection.pool.name=a:1 100
	|db.client.connection.max db.client.connection.pool.name=a:1 100
	|holdfast.retry.budget.tokens 7.5
	|holdfast.breaker.state server.address=a server.port=1 1
	|holdfast.breaker.state server.address=a server.port=2 2
	|holdfast.breaker.state server.address=/s 0
	|`
	compare(t, read(source), alone)

	second := client(telemetry.Pool{Address: "a:1", InUse: 10, Idle: 20, Waiting: 30, Min: 40, Max: 1000}, 2.25,
		telemetry.Breaker{Address: "a:1", State: "open"}, telemetry.Breaker{Address: "a:2", State: "closed"})
	tracer.ClientOpened(second)
	compare(t, read(source), `
	|db.client.connection.count db.client.connection.pool.name=a:1 db.client.connection.state=idle 22
	|db.client.connection.count db.client.connection.pool.name=a:1 db.client.connection.state=used 11
	|db.client.connection.pending_requests db.client.connection.pool.name=a:1 33
	|db.client.connection.idle.min db.client.connection.pool.name=a:1 44
	|db.client.connection.idle.max db.client.connection.pool.name=a:1 1100
	|db.client.connection.max db.client.connection.pool.name=a:1 1100
	|holdfast.retry.budget.tokens 2.25
	|holdfast.breaker.state server.address=a server.port=1 2
	|holdfast.breaker.state server.address=a server.port=2 2
	|holdfast.breaker.state server.address=/s 0
	|`)

	tracer.ClientClosed(second)
	compare(t, read(source), alone)
	tracer.ClientClosed(first)
	compare(t, read(source), "")
}

func TestAPoolWithoutALimitHasNone(t *testing.T) {
	limited, unlimited := telemetry.Pool{Address: "a:1", Max: 100}, telemetry.Pool{Address: "a:1"}
	for _, pools := range [][]telemetry.Pool{{limited, unlimited}, {unlimited, limited}} {
		_, source, tracer := newMemory()
		c := client(telemetry.Pool{}, -1)
		c.Pools = func() []telemetry.Pool { return pools }
		tracer.ClientOpened(c)
		compare(t, read(source), `
		|db.client.connection.count db.client.connection.pool.name=a:1 db.client.connection.state=idle 0
		|db.client.connection.count db.client.connection.pool.name=a:1 db.client.connection.state=used 0
		|db.client.connection.pending_requests db.client.connection.pool.name=a:1 0
		|db.client.connection.idle.min db.client.connection.pool.name=a:1 0
		|`)
	}
}

func TestAClientWithoutABudgetLeavesThatOfTheOthers(t *testing.T) {
	_, source, tracer := newMemory()
	for _, budget := range []float64{-1, 7.5, -1} {
		c := client(telemetry.Pool{}, budget)
		c.Pools = func() []telemetry.Pool { return nil }
		tracer.ClientOpened(c)
	}
	for range 20 { // clients are read in any order
		compare(t, read(source), "holdfast.retry.budget.tokens 7.5")
	}
}
