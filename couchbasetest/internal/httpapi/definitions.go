package httpapi

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// definitions is documents by name that a service keeps: design documents, or search indexes. A document never changes;
// another one takes its place.
type definitions struct {
	mu   sync.Mutex
	docs map[string]map[string]any
}

func (d *definitions) get(name string) map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.docs[name]
}

// put stores a document unless check, which gets the one that is there or nil, returns an error.
func (d *definitions) put(name string, doc map[string]any, check func(old map[string]any) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := check(d.docs[name]); err != nil {
		return err
	}
	if d.docs == nil {
		d.docs = map[string]map[string]any{}
	}
	d.docs[name] = doc
	return nil
}

// remove reports whether the document was there.
func (d *definitions) remove(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.docs[name]
	delete(d.docs, name)
	return ok
}

// names returns the names with a prefix, ordered, without the prefix.
func (d *definitions) names(prefix string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := []string{}
	for _, name := range slices.Sorted(maps.Keys(d.docs)) {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			names = append(names, rest)
		}
	}
	return names
}
