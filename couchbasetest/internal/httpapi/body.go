package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
)

// bodyFields reads the fields of a JSON object or of a form. A body without a type is a form if it is not an object.
func bodyFields(contentType string, body []byte) (map[string]json.RawMessage, error) {
	kind := media(contentType)
	trimmed := bytes.TrimSpace(body)
	if kind == "application/json" || kind != formType && bytes.HasPrefix(trimmed, []byte("{")) {
		return objectFields(trimmed)
	}
	return formFields(body)
}

const formType = "application/x-www-form-urlencoded"

func objectFields(body []byte) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	if fields == nil {
		return nil, errors.New("the body is not a JSON object: it is null")
	}
	return fields, nil
}

// formFields reads a form. Values that are JSON stay; others become text. A field that the service reads as text is always
// text.
func formFields(body []byte) (map[string]json.RawMessage, error) {
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, fmt.Errorf("the body is not a form: %w", err)
	}
	fields := make(map[string]json.RawMessage, len(values))
	for name, all := range values {
		value := []byte(all[len(all)-1])
		if textFields[name] || !json.Valid(value) {
			if value, err = marshal(string(value)); err != nil {
				return nil, err
			}
		}
		fields[name] = value
	}
	return fields, nil
}

// textFields are the fields of a query's form that are text although they may look like JSON.
var textFields = map[string]bool{
	"statement": true, "prepared": true, "encoded_plan": true, "client_context_id": true, "query_context": true,
	"scan_consistency": true, "timeout": true, "profile": true, "use_replica": true,
}
