package site

import (
	"fmt"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// Failure is one kind of failure that can happen to a message, with the Strike and the Middleware of a database. The predefined ones are
// values: copy one to change it.
type Failure[Strike, Middleware any] struct {
	// Name stands in the name of a case: lower-case letters, digits, and hyphens between them.
	Name string
	// Title tells in words what happens, such as "the reply is lost after the server executed it".
	Title string
	// Weight is how often the failure is drawn for cases with several failures, compared with the others; 1 if it is 0.
	Weight int
	// Concerns reports whether the failure can happen to a message; nil means to all.
	Concerns func(explore.Message) bool
	// Apply returns what happens to the message. It is called once in a run, when the message has come.
	Apply func(*Strike) Middleware

	several bool // there must be several servers
}

// OfSeveral returns the failure as one that needs several servers.
func OfSeveral[Strike, Middleware any](f Failure[Strike, Middleware]) Failure[Strike, Middleware] {
	f.several = true
	return f
}

// Failures are those of an exploration.
type Failures[Strike, Middleware any] []Failure[Strike, Middleware]

// Check returns an error if the failures cannot be explored with servers that are several or not.
func (list Failures[Strike, Middleware]) Check(several bool) error {
	for i := range list {
		if list[i].Apply == nil {
			return fmt.Errorf("explore: Failures: number %d (%s) has no function Apply", i+1, list[i].Name)
		}
	}
	return explore.CheckFailures(list.Kinds(several))
}

// Kinds returns the failures that the servers can have, for the plan.
func (list Failures[Strike, Middleware]) Kinds(several bool) (kinds []explore.Failure) {
	for i := range list {
		if f := &list[i]; several || !f.several {
			kinds = append(kinds, explore.Failure{Name: f.Name, Title: f.Title, Weight: f.Weight, Concerns: f.Concerns})
		}
	}
	return kinds
}

// ByName returns the failures by their names, and an error if one of a case is not there.
func (list Failures[Strike, Middleware]) ByName(c explore.Case) (map[string]*Failure[Strike, Middleware], error) {
	failures := make(map[string]*Failure[Strike, Middleware], len(list))
	for i := range list {
		failures[list[i].Name] = &list[i]
	}
	for _, strike := range c {
		if failures[strike.Failure] == nil {
			return nil, fmt.Errorf("explore: the case %s: there is no failure %q", c, strike.Failure)
		}
	}
	return failures, nil
}
