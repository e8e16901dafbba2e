package bsoncodec

import (
	"reflect"
	"sync"
)

// cache keeps one codec, an encoder or a decoder, for each Go type. M has the codecs that were made but not published:
// those of recursive types have each other. The zero value is an empty cache.
type cache[C any, M ~map[reflect.Type]*C] struct {
	published sync.Map // from reflect.Type to *C
	making    sync.Mutex
}

// of returns the codec of a type. choose makes it if there is none.
func (c *cache[C, M]) of(t reflect.Type, choose func(M, reflect.Type) C) *C {
	if codec, ok := c.published.Load(t); ok {
		return codec.(*C)
	}
	c.making.Lock()
	defer c.making.Unlock()
	made := M{}
	codec := c.within(made, t, choose)
	for t, codec := range made {
		c.published.Store(t, codec)
	}
	return codec
}

// within returns the codec of a type that another codec needs, which is being made.
func (c *cache[C, M]) within(made M, t reflect.Type, choose func(M, reflect.Type) C) *C {
	if codec, ok := c.published.Load(t); ok {
		return codec.(*C)
	}
	if codec, ok := made[t]; ok {
		return codec
	}
	codec := new(C)
	made[t] = codec
	*codec = choose(made, t)
	return codec
}
