package testserver

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Uses are the middlewares of type M that are in use, in the order in which they were added, each with a key that says which requests pass
// through it. The zero value is empty. All methods are safe for concurrent use.
type Uses[K, M any] struct {
	changing sync.Mutex
	inUse    atomic.Pointer[[]*use[K, M]]
}

type use[K, M any] struct {
	key        K
	middleware M
}

// Add puts a middleware in use. The returned function ends that.
func (u *Uses[K, M]) Add(key K, middleware M) (remove func()) {
	added := &use[K, M]{key, middleware}
	u.change(func(list []*use[K, M]) []*use[K, M] { return append(list, added) })
	return func() {
		u.change(func(list []*use[K, M]) []*use[K, M] {
			return slices.DeleteFunc(list, func(other *use[K, M]) bool { return other == added })
		})
	}
}

// change replaces the list by a changed copy: requests read it without a lock.
func (u *Uses[K, M]) change(f func([]*use[K, M]) []*use[K, M]) {
	u.changing.Lock()
	defer u.changing.Unlock()
	var list []*use[K, M]
	if old := u.inUse.Load(); old != nil {
		list = slices.Clone(*old)
	}
	if list = f(list); len(list) == 0 {
		u.inUse.Store(nil)
		return
	}
	u.inUse.Store(&list)
}

// Of returns the middlewares whose keys concern a request, nil if there are none.
func (u *Uses[K, M]) Of(concerns func(key K) bool) []M {
	inUse := u.inUse.Load()
	if inUse == nil {
		return nil
	}
	var list []M
	for _, use := range *inUse {
		if concerns(use.key) {
			list = append(list, use.middleware)
		}
	}
	return list
}

// Around returns a handler with middlewares around it, the first outside.
func Around[M ~func(R, H) P, H ~func(R) P, R, P any](list []M, h H) H {
	for _, m := range slices.Backward(list) {
		next := h
		h = func(r R) P { return m(r, next) }
	}
	return h
}
