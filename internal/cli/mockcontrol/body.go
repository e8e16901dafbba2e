package mockcontrol

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxBody is the longest body of a request.
const maxBody = 32 << 20 // bytes

// read decodes the body of a request, a JSON object. An empty body is an empty object.
func read(r *http.Request, into any) error {
	text, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return badField("body", "%v", err)
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err = d.Decode(into); err != nil {
		return fieldError(err)
	}
	if _, err = d.Token(); !errors.Is(err, io.EOF) {
		return badField("body", "there is more than one JSON object")
	}
	return nil
}

// fieldError turns an error of package json into one that names the field.
func fieldError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		field := strings.TrimPrefix(strings.TrimPrefix(wrong.Field, "limits."), "selection.") // of embedded structs
		if field == "" {
			field = "body"
		}
		return badField(field, "it is a JSON %s; it must be %s", wrong.Value, jsonType(wrong.Type.Kind().String()))
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return badField(strings.Trim(name, `"`), "the command has no such field")
	}
	return badField("body", "it is not JSON: %v", err)
}

// jsonType returns the JSON type for a kind of Go.
func jsonType(kind string) string {
	switch kind {
	case "bool", "string":
		return kind
	case "slice":
		return "array"
	case "struct", "map":
		return "object"
	}
	return "number"
}

// duration reads a duration such as "1.5s". An empty text is 0.
func duration(field, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, badField(field, "%q is not a duration such as 1.5s or 200ms", text)
	case d < 0:
		return 0, badField(field, "%q is negative", text)
	}
	return d, nil
}

// durations reads several durations. It returns the first error.
func durations(list ...fieldDuration) error {
	for _, f := range list {
		d, err := duration(f.field, f.text)
		if err != nil {
			return err
		}
		*f.into = d
	}
	return nil
}

type fieldDuration struct {
	field, text string
	into        *time.Duration
}

// notNegative returns an error if a number is negative.
func notNegative(field string, n int) error {
	if n < 0 {
		return badField(field, "%d is negative", n)
	}
	return nil
}

// number reads an unsigned number of at most bits, decimal or with 0x in front. JSON numbers and texts are accepted.
func number(field string, raw json.RawMessage, bits int) (uint64, error) {
	text := strings.Trim(string(raw), `"`)
	n, err := strconv.ParseUint(text, 0, bits)
	if err != nil {
		return 0, badField(field, "%s is not a number of %d bits such as %s", raw, bits, `134 or "0x86"`)
	}
	return n, nil
}

// onlyParameters returns an error for a parameter of the URL that a command does not have.
func onlyParameters(r *http.Request, names ...string) error {
	for name := range r.URL.Query() {
		if !slices.Contains(names, name) {
			return badField(name, "the command has no such parameter; it has %s", strings.Join(names, ", "))
		}
	}
	return nil
}

// parameter reads a parameter of the URL as a number that is not negative. It returns otherwise if it is not there.
func parameter(r *http.Request, name string, otherwise int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, badField(name, "%q is not a whole number from 0 on", text)
	}
	return n, nil
}
