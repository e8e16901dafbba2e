package mongotest

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// https://www.mongodb.com/docs/manual/reference/operator/query/where/

// JavaScript makes the servers accept $where in filters: eval reports whether the code, an expression or a function, is true for a
// document. The document is "this" and "obj" in the code. The context ends when the server closes the connection, and after the
// command's maxTimeMS. An error of eval is the command's error, with code 139. Eval is called with no lock held, for several commands at
// a time; it may wait, and must not keep the document. Without this option $where is refused: mongotest has no JavaScript engine.
// It is also refused in a transaction, with a collation and on a tailable cursor. Eval may be called for a document that the command does
// not return or change in the end, once for each content of the document.
func JavaScript(eval func(ctx context.Context, code string, document bson.Raw) (bool, error)) Option {
	return deploymentOption(func(c *config) { c.javaScript = eval })
}
