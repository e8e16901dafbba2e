package mongo

// limits are the largest number of documents in one command, and the largest size of a message in bytes. They come
// from the hello of a writable server. Before one is known, they are the values of all servers since MongoDB 3.6.
type limits struct{ count, bytes int }

func (c *Client) limits() limits {
	for _, s := range c.runner.Cluster().Snapshot().Description.Servers {
		if s.Writable() && s.MaxBatchCount > 0 && s.MaxMessageSize > 0 {
			return limits{count: int(s.MaxBatchCount), bytes: int(s.MaxMessageSize)}
		}
	}
	return limits{count: 100_000, bytes: 48_000_000}
}
