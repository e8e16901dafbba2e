package once

// For those who change the package.
//
// It works with any client whose collection has the five methods of Source. updateone.go checks the arguments (filter.go,
// update.go, bytes.go), twosteps.go has the two steps, trace.go finds out where a document has a token, failure.go tells the
// engine what an error means, writes.go has the writes of one step, and sweep.go makes the second step of others' tokens
// (token.go).
