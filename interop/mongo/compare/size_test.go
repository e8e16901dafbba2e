package compare

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// sizeRows are not played with -short: the race detector makes large documents slow.
var sizeRows = []row{
	tooLarge("insertOne of a document", insertOne(huge(1, 16*mib))),
	tooLarge("insertMany with one document", insertMany([]any{huge(1, 1), huge(2, 16*mib), huge(3, 1)})),
	tooLarge("insertMany with the first document", insertMany([]any{huge(1, 16*mib), huge(2, 1)})),
	tooLarge("unordered insertMany with one document", unordered([]any{huge(1, 1), huge(2, 16*mib), huge(3, 1)})),
	tooLarge("unordered insertMany with a duplicate and a document", unordered([]any{huge("known", 1), huge(2, 16*mib), huge(3, 1)})),
	tooLarge("unordered insertMany with only documents", unordered([]any{huge(1, 16*mib), huge(2, 16*mib)})),
	tooLarge("updateOne with an update", updateOne(byID, bson.D{{Key: "$set", Value: text(17 * mib)}})),
	{
		name: "insertOne with w: 0 of a document over the limit", do: on(concern(0, nil), insertOne(huge(1, 16*mib))),
		differ: []string{"error", "sent"}, why: "the server would refuse it, and nobody would know",
	},
	{name: "replaceOne with a document over the limit", do: replaceOne(byID, text(16*mib))},
	{name: "findOne with a filter over the limit", do: findOne(text(17 * mib))},
	{name: "insertMany with a duplicate", do: insertMany([]any{huge(1, 1), huge("known", 1), huge(3, 1)})},
	{name: "unordered insertMany with a duplicate", do: unordered([]any{huge(1, 1), huge("known", 1), huge(3, 1)})},
	{
		name: "insertOne of a document over the limit of a message", do: insertOne(huge(1, 50*mib)),
		differ: []string{"error"}, why: "a document that is too large has the same error for every size",
	},
	{
		name: "unordered insertMany with a document over the limit of a message", do: unordered([]any{huge(1, 50*mib), huge(2, 1)}),
		differ: []string{"error", "result", "sent"}, why: "the other documents are inserted",
	},
	{
		name: "a timeout for the whole insertMany", uri: "&timeoutMS=1000", faults: func(s *stage) {
			s.set.Use("insert", mongotest.Always(mongotest.Fault{Delay: 700 * time.Millisecond}))
		}, do: unordered([]any{huge(1, 15*mib), huge(2, 15*mib), huge(3, 15*mib), huge(4, 15*mib), huge(5, 15*mib)}),
		differ: []string{"result"}, why: "the documents of the first batch were inserted",
	},
}

// tooLarge is a row with something over the limit. The outcome is that of a server.
func tooLarge(name string, do call) row {
	return row{
		name: name + " over the limit", do: do,
		differ: []string{"sent"}, why: "a document that the server would refuse is not sent",
	}
}
