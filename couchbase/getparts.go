package couchbase

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// The virtual attributes of a document's expiry and of its flags.
const (
	expiryPath = "$document.exptime"
	flagsPath  = "$document.flags"
)

// getParts reads a document with its expiry, or parts of it, by a look-up.
func (c *Collection) getParts(id string, opts *GetOptions) (*GetResult, error) {
	var specs []LookupInSpec
	if opts.WithExpiry {
		specs = append(specs, GetSpec(expiryPath, &GetSpecOptions{IsXattr: true}))
	}
	projected := len(opts.Project) > 0
	withFlags := opts.WithExpiry && !projected
	if withFlags {
		specs = append(specs, GetSpec(flagsPath, &GetSpecOptions{IsXattr: true}))
	}
	locally := projected && len(specs)+len(opts.Project) > memd.MaxSpecs // too many paths for a server
	if projected && !locally {
		for i, path := range opts.Project {
			if path == "" {
				return nil, invalid("Project[%d] is empty", i)
			}
			specs = append(specs, GetSpec(path, nil))
		}
	} else {
		specs = append(specs, GetSpec("", nil))
	}
	parts, err := c.lookUp(kvLookupIn, id, specs, 0, 0,
		callOptions{opts.Timeout, opts.RetryStrategy, opts.ParentSpan, opts.Context, opts.Internal.User})
	if err != nil {
		return nil, err
	}
	result := &GetResult{Result: parts.Result, transcoder: c.transcoder(opts.Transcoder)}
	contents := parts.parts
	if opts.WithExpiry {
		if result.expiry, err = readExpiry(contents[0]); err != nil {
			return nil, err
		}
		contents = contents[1:]
	}
	if withFlags {
		if result.flags, err = readFlags(contents[0]); err != nil {
			return nil, err
		}
		contents = contents[1:]
	}
	switch {
	case locally:
		result.contents, err = projectLocally(contents[0], opts.Project)
	case projected:
		result.contents, err = project(contents, opts.Project)
	default:
		result.contents, err = contents[0].value, contents[0].err
	}
	if projected {
		result.flags = formatJSON.flags()
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// readExpiry returns the time in the virtual attribute of a document's expiry, the zero time if it has none.
func readExpiry(part lookupPart) (*time.Time, error) {
	if part.err != nil {
		return nil, part.err
	}
	var seconds int64
	if err := json.Unmarshal(part.value, &seconds); err != nil {
		return nil, fmt.Errorf("couchbase: the expiry %q of the document cannot be read: %w%w", part.value, err, silent{ErrDecodingFailure})
	}
	expiry := new(time.Time)
	if seconds != 0 {
		*expiry = time.Unix(seconds, 0)
	}
	return expiry, nil
}

// readFlags returns the flags in the virtual attribute, by which a transcoder knows the format of a document.
func readFlags(part lookupPart) (flags uint32, err error) {
	if part.err != nil {
		return 0, part.err
	}
	if err := json.Unmarshal(part.value, &flags); err != nil {
		return 0, fmt.Errorf("couchbase: the flags %q of the document cannot be read: %w%w", part.value, err, silent{ErrDecodingFailure})
	}
	return flags, nil
}

// project returns a JSON object with the parts of a document at their paths. Paths that the document does not have are left out.
func project(parts []lookupPart, paths []string) ([]byte, error) {
	root := projection{}
	for i, part := range parts {
		if errors.Is(part.err, ErrPathNotFound) || errors.Is(part.err, ErrPathMismatch) {
			continue
		}
		if part.err != nil {
			return nil, part.err
		}
		if err := root.set(paths[i], part.value); err != nil {
			return nil, err
		}
	}
	return root.json()
}

// projectLocally returns a JSON object with the parts of a whole document at some paths.
func projectLocally(document lookupPart, paths []string) ([]byte, error) {
	if document.err != nil {
		return nil, document.err
	}
	root := projection{}
	for _, path := range paths {
		steps, err := parsePath(path)
		if err != nil {
			return nil, err
		}
		value, found, err := walk(document.value, steps)
		if err != nil {
			return nil, err
		}
		if found {
			root.put(steps, value)
		}
	}
	return root.json()
}

// walk returns what a JSON document has at a path, and reports whether there is something.
func walk(document json.RawMessage, steps []step) (json.RawMessage, bool, error) {
	for _, s := range steps {
		if s.isIndex {
			var array []json.RawMessage
			if json.Unmarshal(document, &array) != nil {
				return nil, false, nil //nolint:nilerr // the path does not suit the document: nothing is there
			}
			index := s.index
			if index < 0 {
				index += len(array)
			}
			if index < 0 || index >= len(array) {
				return nil, false, nil
			}
			document = array[index]
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(document, &object) != nil {
			if !json.Valid(document) {
				return nil, false, fmt.Errorf("couchbase: the document is not JSON, so it has no paths%w", silent{ErrDocumentNotJSON})
			}
			return nil, false, nil
		}
		value, ok := object[s.field]
		if !ok {
			return nil, false, nil
		}
		document = value
	}
	return document, true, nil
}
