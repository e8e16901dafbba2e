package mongotest_test

import (
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

const ignoringCase = `{"locale": "en", "strength": 2}`

func TestAChangeStreamComparesByItsOwnCollation(t *testing.T) {
	for _, c := range []struct {
		rule, options string
		events        int
	}{
		{"it does not inherit that of the collection", "", 0},
		{"it has the collation of the command", `, "collation": ` + ignoringCase, 1},
	} {
		t.Run(c.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				client := dial(t, rs, 0)
				client.ok(`{"create": "c", "collation": ` + ignoringCase + `, "$db": "db"}`)
				command := watching("db.c", `{}`, `{"$match": {"fullDocument.s": "X"}}`)
				s := &stream{c: client}
				s.read(client.ok("%s", strings.TrimSuffix(command, "}")+c.options+"}"), "firstBatch")
				client.ok(`{"insert": "c", "documents": [{"_id": 1, "s": "x"}], "$db": "db"}`)
				if got := s.more(); len(got) != c.events {
					t.Errorf("the stream has %d events, want %d", len(got), c.events)
				}
			})
		})
	}
}

func TestADefaultCollationSurvivesAFailover(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		first := dial(t, rs, 0)
		first.ok(`{"create": "c", "collation": ` + ignoringCase + `, "$db": "db"}`)
		first.ok(`{"insert": "c", "documents": [{"_id": "a"}], "writeConcern": {"w": 3}, "$db": "db"}`)
		rs.Kill(0)
		if _, err := rs.WaitPrimary(t.Context()); err != nil {
			t.Fatal(err)
		}
		next := dial(t, rs, rs.Primary())
		if got := next.ok(`{"count": "c", "query": {"_id": "A"}, "$db": "db"}`); number(got, "n") != 1 {
			t.Errorf("the new primary finds %s", got)
		}
		if got := next.ok(`{"insert": "c", "documents": [{"_id": "A"}], "$db": "db"}`).String(); !strings.Contains(got, `"code": {"$numberInt":"11000"}`) {
			t.Errorf("the new primary takes an _id that differs only in its case: %s", got)
		}
	})
}

func TestATransactionUsesTheCollationOfTheCollectionThatItMade(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.at = rs.Primary()
		if got := p.run("A+", `{"create": "c", "collation": `+ignoringCase+`}`).String(); !strings.Contains(got, `"ok": {"$numberDouble":"1.0"}`) {
			t.Fatal(got)
		}
		p.run("A", `{"insert": "c", "documents": [{"_id": "a", "s": "x"}]}`)
		if got := p.run("A", `{"find": "c", "filter": {"s": "X"}}`).String(); !strings.Contains(got, `"_id": "a"`) {
			t.Errorf("the transaction finds %s", got)
		}
		if got := p.run("A", `{"insert": "c", "documents": [{"_id": "A"}]}`).String(); !strings.Contains(got, "11000") {
			t.Errorf("the transaction takes an _id that differs only in its case: %s", got)
		}
	})
}
