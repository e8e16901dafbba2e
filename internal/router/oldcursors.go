package router

import "time"

// oldCursor is what the router must know of a cursor whose client sends old messages: OP_KILL_CURSORS has no namespace, and the reply to an
// OP_GET_MORE tells how many documents came before.
type oldCursor struct {
	namespace string
	returned  int32
}

// unknownNamespace is that of cursors which this router did not open. A member finds a cursor by its id alone.
const unknownNamespace = "admin.$cmd.aggregate"

// openedOld notes the namespace of a cursor, and how many documents its first reply had.
func (c *cursors) openedOld(id int64, namespace string, returned int32, now time.Time) {
	c.use(id, now, func(p place) place {
		p.old = &oldCursor{namespace: namespace, returned: returned}
		return p
	})
}

// returned returns how many documents of a cursor came before, 0 if that is not known.
func (c *cursors) returned(id int64) int32 {
	if p, _ := c.get(id); p.old != nil {
		return p.old.returned
	}
	return 0
}

// cursorGroup are cursors with the same namespace.
type cursorGroup struct {
	namespace string
	cursors   []int64
}

// byNamespace groups cursors by their namespace.
func (c *cursors) byNamespace(ids []int64) []cursorGroup {
	var groups []cursorGroup
	index := make(map[string]int)
	for _, id := range ids {
		namespace := unknownNamespace
		if p, _ := c.get(id); p.old != nil {
			namespace = p.old.namespace
		}
		i, known := index[namespace]
		if !known {
			i = len(groups)
			index[namespace], groups = i, append(groups, cursorGroup{namespace: namespace})
		}
		groups[i].cursors = append(groups[i].cursors, id)
	}
	return groups
}
