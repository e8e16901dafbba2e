package httpapi

import (
	"net/url"
	"strings"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// readTarget finds the index or view, and the bucket, in the path of a request.
func (r *Request) readTarget() {
	parts := strings.Split(strings.TrimPrefix(r.Path, "/"), "/")
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil {
			return
		}
		parts[i] = plain
	}
	at := func(i int, text string) bool { return i < len(parts) && parts[i] == text }
	switch {
	case r.Service == clustermap.Search && at(0, "api") && at(1, "index") && len(parts) > 2:
		r.Index = parts[2]
	case r.Service == clustermap.Search && at(0, "api") && at(1, "stats") && len(parts) > 3:
		r.Index = parts[3]
	case r.Service == clustermap.Search && at(0, "api") && at(1, "bucket") && at(3, "scope") && at(5, "index"):
		r.Bucket = parts[2]
		if len(parts) > 6 {
			r.Index = parts[2] + "." + parts[4] + "." + parts[6]
		}
	case r.Service == clustermap.Views && at(1, "_design"):
		r.Bucket, _, _ = strings.Cut(parts[0], "+")
		if at(3, "_view") && len(parts) > 4 {
			r.Index = parts[2] + "/" + parts[4]
		}
	}
}
