// Package once applies updates exactly once where the server cannot recognise a repeated command: on a standalone server, on services that
// speak MongoDB's protocol without retryable writes, and with retryWrites=false.
//
//	counters, err := once.New(client.Database("shop").Collection("counters"), once.Options{})
//	_, err = counters.UpdateOne(ctx, bson.D{{"_id", "visits"}}, bson.D{{"$inc", bson.D{{"n", 1}}}})
//
// [New] takes a collection of this module's package mongo or of the official driver. Prefer retryable writes where the server has them
// (replica sets and sharded clusters): they need one round trip and leave nothing in the document.
//
// # How it works
//
// Commands that do no harm the second time are sent again once after a network error: finds, inserts with an _id of their own, deletes by a
// unique key, and updates whose operators are idempotent ($set, $unset, $addToSet and others). They are exact as long as no other program
// changes the same document between the two attempts.
//
// Any other update of one document has two steps, each of which may be repeated:
//
//  1. The update is written into the document, unless the document has it among its finished ones: as a token with an id, the time and the
//     update as bytes. An upsert inserts the document with the token.
//  2. If the document has the token, the server applies the update, removes the token, and adds its id to the finished ones: one change of one
//     document.
//
// A client that dies between the steps leaves a token. [Collection.Sweep] applies the second step to it later. The sweep may run beside clients
// and other sweeps.
//
// The field "_once" of the document ([Options.Field]) holds the tokens and the ids. The collection must read from the primary, because a step that matches nothing is followed by a read. In a transaction nothing is repeated.
//
// # The limits of the guarantee
//
//   - The document remembers the ids of its newest finished updates, 32 unless [Options.Finished] says otherwise. A first step that the network
//     delays until as many later updates of the same document have finished is pending again, and a sweep applies it a second time.
//   - If the document is deleted, a delayed first step of an upsert inserts it anew, and a sweep applies the update.
//   - An acknowledged write must not be lost: use write concern "majority" on a replica set.
//   - Every program that replaces the whole document must keep the field.
//   - An upsert inserts the document in its first step, so others may see it without the update for a moment. If the update turns out to be
//     impossible (for example $push to a number), the document stays.
//   - The time of a token is that of the client's clock. A wrong clock changes only when a sweep finishes the token.
//
// # The costs
//
// An update with a token needs two round trips. Until the second one, the document has the token, 88 bytes, and the update; 32 finished ids
// take 507 bytes.
package once
