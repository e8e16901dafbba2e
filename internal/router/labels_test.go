package router

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The labels of an error that the router has itself, as a mongos gives them.
func TestLabels(t *testing.T) {
	stream := bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$changeStream", Value: bson.D{}}}}}}
	other := bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$match", Value: bson.D{}}}}}}
	for name, c := range map[string]struct {
		command  bson.D
		change   func(q *command)
		code     int32
		retried  bool
		expected []string
	}{
		"a plain write":                   {d("insert"), nil, 6, false, nil},
		"a numbered write":                {d("insert"), func(q *command) { q.numbered = true }, 6, false, []string{"RetryableWriteError"}},
		"a numbered write that waited":    {d("insert"), func(q *command) { q.numbered = true }, 133, false, nil},
		"a numbered write, retried":       {d("insert"), func(q *command) { q.numbered = true }, 6, true, nil},
		"a commit":                        {d("commitTransaction"), func(q *command) { q.transaction = true }, 6, false, []string{"RetryableWriteError"}},
		"a commit, retried":               {d("commitTransaction"), func(q *command) { q.transaction = true }, 6, true, []string{"RetryableWriteError"}},
		"an abort":                        {d("abortTransaction"), func(q *command) { q.transaction = true }, 6, false, []string{"RetryableWriteError"}},
		"a command of a transaction":      {d("find"), func(q *command) { q.transaction = true }, 6, false, []string{"TransientTransactionError"}},
		"one that waited too long":        {d("find"), func(q *command) { q.transaction = true }, 133, false, []string{"TransientTransactionError"}},
		"a change stream":                 {stream, nil, 6, false, []string{"ResumableChangeStreamError"}},
		"a change stream, retried":        {stream, nil, 6, true, []string{"ResumableChangeStreamError"}},
		"a change stream that waited":     {stream, nil, 133, false, nil},
		"another aggregation":             {other, nil, 6, false, nil},
		"more of a change stream":         {bson.D{{Key: "getMore", Value: int64(5)}}, nil, 6, false, []string{"ResumableChangeStreamError"}},
		"more of another cursor":          {bson.D{{Key: "getMore", Value: int64(6)}}, nil, 6, false, nil},
		"more of a cursor without a name": {bson.D{{Key: "getMore", Value: int64(7)}}, nil, 6, false, nil},
	} {
		q := &command{}
		q.Name, q.Body = c.command[0].Key, marshal(t, c.command)
		if err := q.readFields(); err != nil {
			t.Fatal(err)
		}
		if c.change != nil {
			c.change(q)
		}
		r := routerWith(map[int64]place{5: {stream: true}, 6: {}})
		f := &forwarded{client: &client{router: r}, command: q}
		if got := f.labels(c.code, c.retried); !slices.Equal(got, c.expected) {
			t.Errorf("%s: %v, want %v", name, got, c.expected)
		}
	}
}

func d(name string) bson.D { return bson.D{{Key: name, Value: "c"}} }
