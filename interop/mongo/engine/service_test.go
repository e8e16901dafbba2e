package engine

import (
	"errors"
	"math"
)

var errBroken = errors.New("broken")

// Which calls of a service fail.
const (
	never  = 0
	first  = 1 // of every two: the first attempt of an operation that is tried again once
	always = math.MaxUint64
)

// service is what all libraries call. It fails by its own count, so that none of them has to know which attempt it makes.
type service struct {
	calls uint64
	fails uint64
	_     [48]byte // a cache line for each goroutine
}

// call is the bare call; nothing that calls it may see that it does so little.
//
//go:noinline
func (s *service) call() error {
	s.calls++
	if s.calls&s.fails != 0 {
		return errBroken
	}
	return nil
}
