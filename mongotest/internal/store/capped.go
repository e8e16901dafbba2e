package store

// Overflows reports whether a capped collection has more than it may.
func (c *Collection) Overflows() bool {
	o := &c.Def.Options
	return o.Capped && (c.Size > o.Size || o.Max > 0 && int64(c.Live) > o.Max)
}

// Oldest returns the record that a capped collection gives up first.
func (c *Collection) Oldest() *Record {
	var oldest *Record
	c.Scan(func(r *Record) bool {
		oldest = r
		return false
	})
	return oldest
}
