package unified

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// entities are the named things of one case. Threads share them.
type entities struct {
	mu    sync.Mutex
	named map[string]any
	order []string // of creation
}

func newEntities() *entities { return &entities{named: make(map[string]any)} }

func (es *entities) add(name string, e any) error {
	es.mu.Lock()
	defer es.mu.Unlock()
	if _, exists := es.named[name]; exists {
		return fmt.Errorf("there is an entity %q already", name)
	}
	es.named[name] = e
	es.order = append(es.order, name)
	return nil
}

func (es *entities) get(name string) (any, error) {
	if es == nil {
		return nil, fmt.Errorf("there is no entity %q here", name)
	}
	es.mu.Lock()
	defer es.mu.Unlock()
	e, ok := es.named[name]
	if !ok {
		return nil, fmt.Errorf("there is no entity %q, but %q", name, slices.Sorted(maps.Keys(es.named)))
	}
	return e, nil
}

// newestFirst returns the entities in the order in which they can be ended.
func (es *entities) newestFirst() []any {
	es.mu.Lock()
	defer es.mu.Unlock()
	var all []any
	for _, name := range slices.Backward(es.order) {
		all = append(all, es.named[name])
	}
	return all
}

// entityNamed returns an entity of a wanted kind.
func entityNamed[E any](es *entities, name string) (E, error) {
	var none E
	e, err := es.get(name)
	if err != nil {
		return none, err
	}
	wanted, ok := e.(E)
	if !ok {
		return none, fmt.Errorf("the entity %q is a %T, not a %T", name, e, none)
	}
	return wanted, nil
}

// entity returns the entity that a value of the file names.
func entity[E any](es *entities, name bson.RawValue) (E, error) {
	text, ok := name.StringValueOK()
	if !ok {
		var none E
		return none, fmt.Errorf("%v names no entity", name)
	}
	return entityNamed[E](es, text)
}
