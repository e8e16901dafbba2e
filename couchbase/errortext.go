package couchbase

import (
	"encoding/json"
	"fmt"
)

// errorText returns the text of an error struct: that of its inner error, and the details as JSON.
func errorText(inner error, details any) string {
	text := message(inner)
	if inner == nil {
		text = "unknown error"
	}
	b, err := json.Marshal(details)
	if err != nil {
		return fmt.Sprintf("%s | details that cannot be encoded: %v", text, err)
	}
	return text + " | " + string(b)
}

// message returns the text of an inner error.
func message(inner error) string {
	if inner == nil {
		return ""
	}
	return inner.Error()
}
