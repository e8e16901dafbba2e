package explore

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Failure is one kind of failure, as far as the plan needs it.
type Failure struct {
	Name     string             // such as "reply-lost": lower-case letters, digits and hyphens
	Title    string             // such as "the reply is lost after the server executed it"
	Weight   int                // how often it is drawn for pairs, compared with others; 1 if it is 0
	Concerns func(Message) bool // which messages it can happen to; nil means all
}

var failureName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// concerns reports whether the failure can happen to a message.
func (f *Failure) concerns(m Message) bool { return f.Concerns == nil || f.Concerns(m) }

// weight returns the weight, 1 if none was given.
func (f *Failure) weight() int { return max(1, f.Weight) }

// CheckFailures returns an error if the list cannot be explored.
func CheckFailures(list []Failure) error {
	if len(list) == 0 {
		return fmt.Errorf("explore: Failures: there is none")
	}
	for i, f := range list {
		switch {
		case !failureName.MatchString(f.Name):
			return fmt.Errorf("explore: Failures: the name %q must have lower-case letters, digits, and single hyphens between them", f.Name)
		case slices.ContainsFunc(list[:i], func(before Failure) bool { return before.Name == f.Name }):
			return fmt.Errorf("explore: Failures: two have the name %q", f.Name)
		case f.Weight < 0:
			return fmt.Errorf("explore: Failures: the weight of %s is %d; it must not be negative", f.Name, f.Weight)
		}
	}
	return nil
}

// Strike is one failure at one message.
type Strike struct {
	Message Message
	Failure string // its name
}

// String returns the strike as "update/shop.orders/1:reply-lost".
func (s Strike) String() string { return s.Message.String() + ":" + s.Failure }

// Case is what one run has: no strike, one, or several that happen in their order.
type Case []Strike

// String returns the case as its strikes with "+" between them.
func (c Case) String() string {
	names := make([]string, len(c))
	for i, s := range c {
		names[i] = s.String()
	}
	return strings.Join(names, "+")
}

// ParseCase reads what [Case.String] made. The failures must be in the list.
func ParseCase(text string, failures []Failure) (Case, error) {
	var c Case
	for part := range strings.SplitSeq(text, "+") {
		name, failure, found := strings.Cut(part, ":")
		if !found {
			return nil, fmt.Errorf("explore: %q is not a case such as update/shop.orders/1:reply-lost", part)
		}
		m, err := ParseMessage(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(failures, func(f Failure) bool { return f.Name == failure }) {
			return nil, fmt.Errorf("explore: the case %q: there is no failure %q", part, failure)
		}
		c = append(c, Strike{m, failure})
	}
	return c, nil
}
