package javascript

import (
	"regexp"
	"strings"

	"github.com/dop251/goja"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// maxCode is how many bytes the code of a function may have. The compiler's recursion is as deep as the code is nested.
const maxCode = 32 << 10

// function recognizes code that is a function as it stands.
var function = regexp.MustCompile(`^(async\s+)?(function\b|\([^()]*\)\s*=>|[\w$]+\s*=>)`)

// compile compiles code to a program that gives a function. Code that is no function is an expression or the body of a function, of
// which the first that has the syntax counts.
func compile(code string) (*goja.Program, error) {
	if len(code) > maxCode {
		return nil, mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: JavaScript code of more than %d bytes is not supported", maxCode)
	}
	code = strings.TrimRight(strings.TrimSpace(code), "; \t\r\n")
	if function.MatchString(strings.TrimLeft(uncommented(code), "( \t\r\n")) {
		if p, err := goja.Compile("", "(\n"+code+"\n)", false); err == nil {
			return p, nil
		}
	}
	if p, err := goja.Compile("", "(function() { return (\n"+code+"\n) })", false); err == nil {
		return p, nil
	}
	return goja.Compile("", "(function() {\n"+code+"\n})", false)
}

// uncommented returns code without the comments at its beginning.
func uncommented(code string) string {
	for {
		code = strings.TrimSpace(code)
		var found bool
		switch {
		case strings.HasPrefix(code, "//"):
			_, code, found = strings.Cut(code, "\n")
		case strings.HasPrefix(code, "/*"):
			_, code, found = strings.Cut(code, "*/")
		}
		if !found {
			return code
		}
	}
}

// Check returns the error of code that cannot be compiled.
func Check(code string) error {
	if _, err := compile(code); err != nil {
		return failure(err)
	}
	return nil
}
