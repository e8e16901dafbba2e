// Package once applies updates exactly once where the server cannot recognise a repeated command: on a standalone server, on services that
// speak MongoDB's protocol without retryable writes, and with retryWrites=false.
//
//	counters, err := once.New(client.Database("shop").Collection("counters"), once.Options{})
//	_, err = counters.UpdateOne(ctx, bson.D{{"_id", "visits"}}, bson.D{{"$inc", bson.D{{"n", 1}}}})
//
// [New] takes a collection of this module's package mongo or of the official driver.
//
// # How it works
//
// Commands that do no harm the second time are sent again once after a network error: finds, inserts with an _id of their own, deletes by a
// unique key, and updates whose operators are idempotent ($set, $unset, $addToSet and others).
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
// The field "_once" of the document ([Options.Field]) holds the tokens, as "pending" and "finished".
//
// # The limits of the guarantee
//
//   - The document remembers the ids of its newest finished updates, 32 unless [Options.Finished] says otherwise. A first step that the network
//     delays until as many later updates of the same document have finished is pending again, and a sweep applies it a second time.
//   - An acknowledged write must not be lost: use write concern "majority" on a replica set.
//   - Every program that replaces the whole document must keep the field.
//   - An upsert inserts the document in its first step, so others may see it without the update for a moment. If the update turns out to be
//     impossible (for example $push to a number), the document stays.
//   - The time of a token is that of the client's clock.
//
// # The costs
//
// An update with a token needs two round trips. A token takes some 70 bytes more than the update; each finished id takes some 16 bytes of its
// document, so 32 of them half a KiB.
//
// # Which way to choose
//
// Use retryable writes where the server has them (replica sets and sharded clusters since MongoDB 3.6): they need one round trip and leave
// nothing in the document. Where the data has a natural key, insert a document for each event, with the key as its _id, instead of an update
// that adds. Use this package for the rest.
package once
