package panicked

import (
	"errors"
	"strings"
	"testing"
)

var errMine = errors.New("mine")

func calls(f func()) (err error) {
	defer Recovered("the serializer", &err)
	f()
	return nil
}

func TestAPanicBecomesAnError(t *testing.T) {
	var nothing *strings.Builder
	for _, c := range []struct {
		name string
		f    func()
		text string // the error's, without the line
		is   error
	}{
		{"none", func() {}, "", nil},
		{"a text", func() { panic("a text") }, "the serializer panicked in panicked.TestAPanicBecomesAnError.func2 (panicked_test.go:", nil},
		{"an error", func() { panic(errMine) }, "the serializer panicked in ", errMine},
		{"a nil pointer", func() { nothing.WriteString("") }, "the serializer panicked in ", nil},
	} {
		err := calls(c.f)
		if c.text == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.text) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
