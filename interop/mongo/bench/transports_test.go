package bench

import (
	"fmt"
	"testing"
)

const transportRounds, transportOperations = 5, 4_000

// TestTransports measures FindOne, InsertOne and 1,000 documents over TLS and with zstd: one goroutine on one connection.
// It judges nothing: most of the cost is that of crypto/tls and of the compressor, which both clients use.
func TestTransports(t *testing.T) {
	skipIfRace(t)
	server := startServer(t)
	printHead()
	for _, way := range []struct {
		name    string
		through transport
	}{{"tls", overTLS}, {"zstd", withZstd}} {
		t.Run(way.name, func(t *testing.T) {
			ours, theirs := connectOurs(t, way.through(server, 1)), connectOfficial(t, way.through(server, 1))
			ourFind, theirFind := finders(t, server, way.through)
			nested := shapes()[1]
			for _, m := range []struct {
				figure       string
				compare      func(t *testing.T, ours, theirs operation, turn int) pair
				turn         int
				ours, theirs operation
			}{
				{"findone", compareOperations, transportOperations, ours.findOne, theirs.findOne},
				{"insertone", compareOperations, transportOperations, ours.insertOne, theirs.insertOne},
				{"decode1000", compareBatches, batchesInTurn, nested.decoding(ourFind), nested.decoding(theirFind)},
				{"insert1000", compareBatches, insertedInTurn, ours.insertMany, theirs.insertMany},
			} {
				p := m.compare(t, m.ours, m.theirs, m.turn)
				p.print(m.figure + ", " + way.name)
				fmt.Printf("figure %s-%s-vs-official-cpu %.2f\n", m.figure, way.name, p.ratio(cpu))
			}
		})
	}
}

// compareOperations is compareBatches for operations of one document.
func compareOperations(t *testing.T, ours, theirs operation, turn int) pair {
	t.Helper()
	r := result{costs: make(map[string][]cost)}
	one := load{workers: 1}
	for range rounds(transportRounds) {
		r.costs[oursClient] = append(r.costs[oursClient], one.cost(t, nil, ours, sampled(turn)))
		r.costs[officialClient] = append(r.costs[officialClient], one.cost(t, nil, theirs, sampled(turn)))
	}
	return pair{r}
}
