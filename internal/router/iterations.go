package router

import "sync"

// iterations has how many iterations the users have, by the mechanism: a user who does not exist must have as many as those who do. A set whose
// parameter scramSHA256IterationCount was changed has others than the default.
type iterations struct {
	mu   sync.Mutex
	last map[string]int
}

// note remembers the iterations of a user.
func (i *iterations) note(mechanism string, n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.last == nil {
		i.last = make(map[string]int)
	}
	i.last[mechanism] = n
}

// usual returns the iterations of the last user, or a default if there was none.
func (i *iterations) usual(mechanism string, otherwise int) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if n, ok := i.last[mechanism]; ok {
		return n
	}
	return otherwise
}
