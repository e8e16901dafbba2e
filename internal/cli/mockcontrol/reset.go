package mockcontrol

import (
	"encoding/json"
	"net/http"
)

// reset brings the cluster back to where tests can begin: no rules, all nodes run and are in the cluster with equally many
// vbuckets, no lags, no documents, and nothing in the journal, the record of HTTP requests and the counters.
func (c *control) reset(r *http.Request) (any, error) {
	if err := read(r, &struct{}{}); err != nil {
		return nil, err
	}
	c.rules.removeAll()
	if rebalance, err := c.current(); err == nil {
		rebalance.Stop()
	}
	for i, n := range c.cluster.State().Nodes {
		c.cluster.Restart(i)
		c.cluster.Resume(i)
		c.cluster.Heal(i)
		c.cluster.ReleaseManifests(i)
		if n.FailedOver {
			if err := c.cluster.AddBack(i); err != nil {
				return nil, refused(err)
			}
		}
	}
	c.cluster.SetReplicationLag(0)
	c.cluster.SetPersistenceLag(0)
	c.cluster.SetBareRefusals(false)
	for _, b := range c.cluster.State().Buckets {
		if err := c.cluster.FlushBucket(b.Name); err != nil {
			return nil, refused(err)
		}
	}
	if err := c.cluster.Rebalance(); err != nil {
		return nil, refused(err)
	}
	c.cluster.Forget()
	return nil, nil
}

// setErrorMap gives a status an entry in the error map that nodes send from now on.
func (c *control) setErrorMap(r *http.Request) (any, error) {
	var body struct {
		Status      json.RawMessage `json:"status"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Attributes  []string        `json:"attributes"`
	}
	if err := read(r, &body); err != nil {
		return nil, err
	}
	if body.Status == nil {
		return nil, badField("status", "it is not there")
	}
	s, err := status("status", body.Status)
	if err != nil {
		return nil, err
	}
	if body.Name == "" {
		return nil, badField("name", "it is empty, or not there")
	}
	c.cluster.SetErrorMapEntry(s, body.Name, body.Description, body.Attributes...)
	return nil, nil
}
