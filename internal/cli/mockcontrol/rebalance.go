package mockcontrol

import (
	"errors"
	"net/http"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// wholeRebalance makes a rebalance from its start to its end. With "during" its moves are spread over that time; it stops
// where it is if the client leaves before.
func (c *control) wholeRebalance(r *http.Request) (any, error) {
	var body struct {
		Eject  []int  `json:"eject"` // the nodes that leave
		During string `json:"during"`
	}
	if err := read(r, &body); err != nil {
		return nil, err
	}
	during, err := duration("during", body.During)
	if err != nil {
		return nil, err
	}
	rebalance, err := c.beginRebalance(body.Eject)
	if err != nil {
		return nil, err
	}
	moves := rebalance.Left()
	if moves > 0 && during > 0 {
		pace := time.NewTicker(max(1, during/time.Duration(moves)))
		defer pace.Stop()
		for rebalance.Move() {
			select {
			case <-pace.C:
			case <-r.Context().Done():
				rebalance.Stop()
				return nil, r.Context().Err()
			}
		}
	}
	rebalance.Finish()
	if left := rebalance.Left(); left > 0 {
		return nil, refused(errors.New("the rebalance was stopped, or a node ended meanwhile: vbuckets are left"))
	}
	return map[string]int{"moved": moves}, nil
}

func (c *control) beginRebalance(eject []int) (*couchbasetest.Rebalance, error) {
	if err := c.checkNodes("eject", eject); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	rebalance, err := c.cluster.StartRebalance(eject...)
	if err != nil {
		return nil, refused(err)
	}
	c.rebalance = rebalance
	return rebalance, nil
}

// startRebalance begins a rebalance that goes on with moveRebalance.
func (c *control) startRebalance(r *http.Request) (any, error) {
	var body struct {
		Eject []int `json:"eject"`
	}
	if err := read(r, &body); err != nil {
		return nil, err
	}
	rebalance, err := c.beginRebalance(body.Eject)
	if err != nil {
		return nil, err
	}
	return map[string]int{"left": rebalance.Left()}, nil
}

// current returns the rebalance that is going on.
func (c *control) current() (*couchbasetest.Rebalance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rebalance == nil || !c.cluster.State().Rebalancing {
		return nil, refused(errors.New("no rebalance is going on"))
	}
	return c.rebalance, nil
}

// moveRebalance moves vbuckets: as many as "count" says, without it all. After the last one the rebalance ends.
func (c *control) moveRebalance(r *http.Request) (any, error) {
	var body struct {
		Count int `json:"count"`
	}
	if err := read(r, &body); err != nil {
		return nil, err
	}
	if err := notNegative("count", body.Count); err != nil {
		return nil, err
	}
	rebalance, err := c.current()
	if err != nil {
		return nil, err
	}
	moved := 0
	for (body.Count == 0 || moved < body.Count) && rebalance.Move() {
		moved++
	}
	left := rebalance.Left()
	if left == 0 {
		rebalance.Finish()
	}
	return map[string]any{"moved": moved, "left": left, "rebalancing": c.cluster.State().Rebalancing}, nil
}

// stopRebalance ends a rebalance where it is.
func (c *control) stopRebalance(r *http.Request) (any, error) {
	if err := read(r, &struct{}{}); err != nil {
		return nil, err
	}
	rebalance, err := c.current()
	if err != nil {
		return nil, err
	}
	rebalance.Stop()
	return map[string]int{"left": rebalance.Left()}, nil
}
