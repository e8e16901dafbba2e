package query

import (
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// The components of an update's path that stand for elements of an array: "$" for the one that the filter matched by,
// "$[]" for all, "$[identifier]" for those that an array filter selects.

func isAllElements(name string) (bool, string) {
	if len(name) < 3 || !strings.HasPrefix(name, "$[") || !strings.HasSuffix(name, "]") {
		return false, ""
	}
	return true, name[2 : len(name)-1]
}

// isDynamic reports whether a dotted path has such a component.
func isDynamic(field string) bool {
	return slices.ContainsFunc(splitPath(field), func(name string) bool {
		all, _ := isAllElements(name)
		return all || name == "$"
	})
}

// element returns the child for elements that f selects, nil for all.
func (t *target) element(name string, f *arrayFilter) *target {
	at, found := slices.BinarySearchFunc(t.elements, name, func(c *target, name string) int {
		return strings.Compare(c.name, name)
	})
	if !found {
		t.elements = slices.Insert(t.elements, at, &target{name: name, selects: f})
	}
	return t.elements[at]
}

// allElements returns an array after what its elements undergo.
func (t *target) allElements(old Value, env *Env) (Value, error) {
	switch {
	case old.Missing():
		return old, noArray(env.path)
	case !old.IsArray():
		return old, mongoerr.Errorf(mongoerr.BadValue, "Cannot apply array updates to non-array element %s: %s", env.field(), old)
	}
	at, dst := wire.BeginDocument(make([]byte, 0, len(old.Data)+64))
	it := wire.Elements(old.Data)
	for it.Next() {
		v, err := t.oneElement(Of(it.Element), env, string(it.Key))
		if err != nil {
			return old, err
		}
		dst = wire.AppendValue(dst, string(it.Key), v.Type, v.Data)
	}
	return Value{old.Type, wire.EndDocument(dst, at)}, it.Err
}

func noArray(at path) error {
	return mongoerr.Errorf(mongoerr.BadValue, "The path '%s' must exist in the document in order to apply array updates.", dotted(at))
}

func (t *target) oneElement(v Value, env *Env, key string) (Value, error) {
	var all *target
	for _, c := range t.elements {
		if !c.selects.selected(v) {
			continue
		}
		if all == nil {
			all = c
			continue
		}
		var err error
		if all, err = merge(all, c, append(slices.Clip(env.path), key)); err != nil {
			return v, err
		}
	}
	if all == nil {
		return v, nil
	}
	next, err := all.value(v, env, key)
	return env.element(next), err
}

// merge returns a tree of what two do to the same value, at the given path.
func merge(a, b *target, at path) (*target, error) {
	if a.op != nil || b.op != nil || (len(a.elements) > 0) != (len(b.elements) > 0) {
		return nil, mongoerr.Errorf(mongoerr.ConflictingUpdateOperators, "Update created a conflict at '%s'", dotted(at))
	}
	both := &target{name: a.name, elements: slices.Clone(a.elements)}
	for _, c := range a.inOrder() {
		both.put(c)
	}
	for _, c := range b.inOrder() {
		if err := both.mergeChild(c, at); err != nil {
			return nil, err
		}
	}
	for _, c := range b.elements {
		own := both.element(c.name, c.selects)
		next := c
		if own.op != nil || len(own.children) > 0 || len(own.elements) > 0 {
			var err error
			if next, err = merge(own, c, append(slices.Clip(at), c.name)); err != nil {
				return nil, err
			}
		}
		both.elements[slices.Index(both.elements, own)] = next
	}
	return both, nil
}

// mergeChild adds a child, merged with the one of its name if there is one; at is the path of t.
func (t *target) mergeChild(c *target, at path) error {
	i := t.find([]byte(c.name))
	if i < 0 {
		t.put(c)
		return nil
	}
	both, err := merge(t.children[i], c, append(slices.Clip(at), c.name))
	if err == nil {
		t.children[i] = both
	}
	return err
}

// put makes c the child of its name.
func (t *target) put(c *target) {
	if i := t.find([]byte(c.name)); i >= 0 {
		t.children[i] = c
		return
	}
	t.add(c)
}

// resolved returns the tree at a path with "$" replaced by the index of the element that the filter matched by.
func (t *target) resolved(element string, at path) (*target, error) {
	if t.op != nil {
		return t, nil
	}
	out := &target{name: t.name, selects: t.selects}
	for _, c := range t.elements {
		next, err := c.resolved(element, append(slices.Clip(at), c.name))
		if err != nil {
			return nil, err
		}
		out.elements = append(out.elements, next)
	}
	for _, c := range t.inOrder() {
		name := c.name
		if name == "$" {
			name = element
		}
		next, err := c.resolved(element, append(slices.Clip(at), name))
		if err != nil {
			return nil, err
		}
		renamed := *next
		renamed.name = name
		if err := out.mergeChild(&renamed, at); err != nil {
			return nil, err
		}
	}
	return out, nil
}
