//go:build ours

package calls

import "github.com/holdfast-db/holdfast/couchbase"

// ObserveSteps look at both copies of a document by its key, after a write without a mutation token.
func ObserveSteps() []Step {
	look := func(name, key string) Step {
		return Step{"observe: " + name, func(c *Client) error {
			return first(c.c.Upsert(key, 1, &couchbase.UpsertOptions{PersistTo: 2}))
		}, 3}
	}
	return []Step{look("a key", "observed"), look("a key of Unicode", "é日")}
}
