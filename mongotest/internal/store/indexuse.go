package store

import "time"

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/indexStats/

// IndexUse is how many operations have used an index, and since when they are counted.
type IndexUse struct {
	Count int64
	Since time.Time
}

// Use counts an operation that used an index.
func (c *Collection) Use(ix *Index) {
	if s := c.stateOf(ix.Name); s != nil {
		s.use.Count++
	}
}

// UseOf returns how an index was used.
func (c *Collection) UseOf(ix *Index) IndexUse {
	if s := c.stateOf(ix.Name); s != nil {
		return s.use
	}
	return IndexUse{}
}

// RestartUses sets all counts to 0, as a server does that starts.
func (c Catalog) RestartUses() {
	for _, each := range c {
		for _, s := range each.states {
			s.use = IndexUse{Since: time.Now()}
		}
	}
}

// chosen has the best indexes for searches of one shape, and how many documents the collection had when they were chosen.
type chosen struct {
	live    int
	indexes []*Index
}

// maxShapes is how many shapes a collection remembers.
const maxShapes = 1000

// Chosen returns the indexes that were chosen for searches of a shape. It returns false if none were, or if the collection has more than doubled
// or halved since.
func (c *Collection) Chosen(shape string) ([]*Index, bool) {
	was, ok := c.choices[shape]
	return was.indexes, ok && c.Live <= 2*was.live && was.live <= 2*c.Live
}

// Choose keeps the best indexes for searches of a shape. They are forgotten when the collection gets or loses an index.
func (c *Collection) Choose(shape string, list []*Index) {
	if c.choices == nil || len(c.choices) == maxShapes {
		c.choices = make(map[string]chosen)
	}
	c.choices[shape] = chosen{c.Live, list}
}

// sampled is how many documents are enough to tell which index is the best.
const sampled = 1000

// Sample returns the first documents.
func (c *Collection) Sample() []*Record {
	list := make([]*Record, 0, min(c.Live, sampled))
	c.Scan(func(r *Record) bool {
		list = append(list, r)
		return len(list) < sampled
	})
	return list
}
