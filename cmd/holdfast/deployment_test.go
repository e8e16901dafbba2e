package main

import (
	"errors"
	"fmt"
	"net"
	"testing"
)

func TestANameThatCannotBeLookedUpIsNoWrongCommandLine(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{
		{fmt.Errorf("parsing: %w", &net.DNSError{Err: "no such host", Name: "a.example"}), exitCannotRun},
		{errors.New("an option is not supported"), exitUsage},
	} {
		var f *failure
		if !errors.As(connectionStringError(c.err), &f) || f.code != c.code {
			t.Errorf("%v has the exit code %d, want %d", c.err, f.code, c.code)
		}
	}
}
