package prove

// delayed is a message that the network has not delivered yet, although its connection broke.
type delayed struct {
	*hit
	arrival  chan struct{} // closed when the network delivers it
	executed chan struct{} // closed when the server has executed it
}

// delay holds a message back until its operation has ended: its retry, which has a connection of its own, overtakes it.
func (i *injector) delay(h *hit) treatment {
	d := &delayed{h, make(chan struct{}), make(chan struct{})}
	i.mu.Lock()
	i.delayed[h.op] = d
	i.mu.Unlock()
	return treatment{late: d.arrival, after: func() {
		i.happened(h)
		close(d.executed)
	}}
}

// deliver lets the delayed message of an operation arrive, and waits until the server has executed it. So nothing is on its way at the end
// of the load.
func (i *injector) deliver(id OpID) {
	i.mu.Lock()
	d := i.delayed[id]
	delete(i.delayed, id)
	if d != nil {
		d.others = i.messagesLocked(id, d.message)
	}
	i.mu.Unlock()
	if d == nil {
		return
	}
	close(d.arrival)
	select {
	case <-d.executed:
	case <-i.ctx.Done():
	}
}

// messagesLocked returns the messages of an operation without one of them.
func (i *injector) messagesLocked(id OpID, except messageID) (list []messageID) {
	for _, step := range []Step{FirstStep, SecondStep} {
		for _, m := range i.seen[part{id, step}] {
			if m != except {
				list = append(list, m)
			}
		}
	}
	return list
}

// overtaken reports whether the journal has all other messages of the operation before the delayed one.
func (h *hit) overtaken(journal map[messageID]entry) bool {
	for _, m := range h.others {
		if journal[m].place > journal[h.message].place {
			return false
		}
	}
	return true
}
