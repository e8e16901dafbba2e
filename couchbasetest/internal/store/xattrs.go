package store

import (
	"encoding/json"
	"strings"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/subjson"
)

// systemXattrs returns those extended attributes that outlive the deletion of a document: their names begin with "_".
func systemXattrs(xattrs []byte) []byte {
	if xattrs == nil {
		return nil
	}
	var kept []byte
	names, values := subjson.Members(xattrs)
	for i, name := range names {
		if !strings.HasPrefix(name, "_") {
			continue
		}
		quoted, _ := json.Marshal(name)
		kept = append(append(append(append(kept, ','), quoted...), ':'), values[i]...)
	}
	if kept == nil {
		return nil
	}
	kept[0] = '{'
	return append(kept, '}')
}
