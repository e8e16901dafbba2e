package couchbase

import "fmt"

// invalidArgument is an error about an argument or an option.
type invalidArgument string

func (e invalidArgument) Error() string { return "invalid argument: " + string(e) }

// Is reports whether target is ErrInvalidArgument.
func (e invalidArgument) Is(target error) bool { return target == ErrInvalidArgument }

// invalid returns an error about an argument. The text names the argument and the rule.
func invalid(format string, args ...any) error { return invalidArgument(fmt.Sprintf(format, args...)) }
