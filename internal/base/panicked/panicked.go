// Package panicked makes a panic of the application's code an error, on goroutines where the application cannot recover and a panic would
// end the process. Apart does so with code that does not return, too.
package panicked

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// failure is the error of a call in which the application's code panicked.
type failure struct {
	who   string
	value any
	place string // where it panicked: a function, a file and a line
}

func (f *failure) Error() string {
	return fmt.Sprintf("%s panicked in %s: %v", f.who, f.place, f.value)
}

// Unwrap returns the value of the panic if it is an error, so that errors.Is finds it.
func (f *failure) Unwrap() error {
	err, _ := f.value.(error)
	return err
}

// Recovered is deferred by a function that calls the application's code. It makes a panic the function's error. who names the code.
func Recovered(who string, err *error) {
	if v := recover(); v != nil {
		*err = &failure{who: who, value: v, place: place()}
	}
}

// place returns where the goroutine panicked. It is called while the goroutine recovers.
func place() string {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers[:])])
	for panicked := false; ; {
		f, more := frames.Next()
		inside := strings.HasPrefix(f.Function, "runtime.") // gopanic, and for a nil pointer sigpanic
		if panicked && !inside {
			return fmt.Sprintf("%s (%s:%d)", path.Base(f.Function), path.Base(f.File), f.Line)
		}
		if panicked = panicked || inside; !more {
			return "an unknown function"
		}
	}
}
