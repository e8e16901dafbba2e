package store

// Catalog is collections by their namespaces.
type Catalog map[string]*Collection

// Apply does to the collections what an entry says.
func (c Catalog) Apply(e *Entry) Slot {
	s := Slot{Entry: e, on: c[e.NS]}
	switch e.Op {
	case Put:
		s.on.put(e.Key, e.After)
	case Remove:
		s.removed = s.on.remove(e.Key)
	case Create:
		s.on = newCollection(e.Change.After)
		s.on.buildStates()
		c[e.NS] = s.on
	case Drop:
		delete(c, e.NS)
	case Alter:
		s.on.define(e.Change.After)
	case Rename:
		s.replaced = c[e.Change.To]
		delete(c, e.NS)
		c[e.Change.To] = s.on
		s.on.Def = e.Change.After
	case Group:
		s.parts = make([]Slot, 0, len(e.Parts))
		for _, part := range e.Parts {
			s.parts = append(s.parts, c.Apply(part))
		}
	case EmptyDatabase:
		delete(c, e.NS+"."+ProfileName) // which an undo does not bring back
	case Noop:
	}
	return s
}

// Undo takes back what an entry did, as the last one that did something.
func (c Catalog) Undo(s *Slot) {
	switch s.Op {
	case Put:
		if s.Before == nil {
			s.on.remove(s.Key)
		} else {
			s.on.put(s.Key, s.Before)
		}
	case Remove:
		s.on.restore(s.removed, s.Before)
	case Create:
		delete(c, s.NS)
	case Drop:
		c[s.NS] = s.on
	case Alter:
		s.on.define(s.Change.Before)
	case Rename:
		delete(c, s.Change.To)
		if s.replaced != nil {
			c[s.Change.To] = s.replaced
		}
		c[s.NS] = s.on
		s.on.Def = s.Change.Before
	case Group:
		for i := len(s.parts) - 1; i >= 0; i-- {
			c.Undo(&s.parts[i])
		}
	case Noop, EmptyDatabase:
	}
}
