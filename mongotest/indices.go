package mongotest

import (
	"fmt"

	"github.com/holdfast-db/holdfast/mongotest/internal/call"
)

// nth returns one of a method's servers by its index; the error names the method and the index that is none.
func nth[T any](method, what string, list []T, i int) (found T, err error) {
	if i < 0 || i >= len(list) {
		return found, fmt.Errorf("mongotest: %s: there is no %s %d", method, what, i)
	}
	return list[i], nil
}

// orPanic is for methods that return no error: it panics with it.
func orPanic[T any](v T, err error) T {
	if err != nil {
		panic(err.Error())
	}
	return v
}

// memberAt returns the member that a method is asked for. It takes the set's mutex.
func (rs *Deployment) memberAt(method string, i int) (*call.Member, error) {
	rs.set.Lock()
	defer rs.set.Unlock()
	m, err := nth(method, "member", rs.cluster.Members, i)
	if err != nil && i == -1 {
		err = fmt.Errorf("%w (Primary returns -1 while there is no primary)", err)
	}
	return m, err
}
