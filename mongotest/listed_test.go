package mongotest

// ListChanged returns a channel that is closed when currentOp lists another long command next, or one less.
func (d *Deployment) ListChanged() <-chan struct{} { return d.cluster.Running.Changed() }
