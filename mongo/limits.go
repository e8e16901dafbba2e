package mongo

// limits are what one command may hold, by the primary's hello or, before one is known, by what servers have had since
// version 3.6.
type limits struct{ count, bytes int }

func (c *Client) limits() limits {
	for _, s := range c.runner.Cluster().Snapshot().Description.Servers {
		if s.Writable() && s.MaxBatchCount > 0 && s.MaxMessageSize > 0 {
			return limits{count: int(s.MaxBatchCount), bytes: int(s.MaxMessageSize)}
		}
	}
	return limits{count: 100_000, bytes: 48_000_000}
}
