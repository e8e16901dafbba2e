//go:build !ours

package calls

import (
	"time"

	"github.com/couchbase/gocbcore/v10"
)

// ObserveSteps look at both copies of a document by its key. gocb has no operation that does so; its agent has one, for servers
// without collections.
func ObserveSteps() []Step {
	look := func(name, key string) Step {
		return Step{"observe: " + name, func(c *Client) error {
			if _, err := c.c.Upsert(key, 1, nil); err != nil {
				return err
			}
			agent, err := c.bucket.Internal().IORouter()
			for copyIndex := 0; err == nil && copyIndex < 2; copyIndex++ {
				err = observe(agent, gocbcore.ObserveOptions{Key: []byte(key), ReplicaIdx: copyIndex, Deadline: time.Now().Add(5 * time.Second)})
			}
			return err
		}, 3}
	}
	return []Step{look("a key", "observed"), look("a key of Unicode", "é日")}
}

func observe(agent *gocbcore.Agent, o gocbcore.ObserveOptions) error {
	done := make(chan error, 1)
	_, err := agent.Observe(o, func(_ *gocbcore.ObserveResult, err error) { done <- err })
	if err != nil {
		return err
	}
	return <-done
}
