package httpapi

import (
	"net/http"
)

func terseMap(x *exchange)     { x.sendMap(x.r.PathValue("bucket")) }
func nodeServices(x *exchange) { x.sendMap("") }

func (x *exchange) sendMap(bucket string) {
	b, _, err := x.s.cluster.Map(x.node, bucket)
	if err != nil {
		x.missing()
		return
	}
	x.bytes(http.StatusOK, "application/json", b)
}

func terseMapStream(x *exchange)     { x.stream(x.r.PathValue("bucket"), x.mapText) }
func nodeServicesStream(x *exchange) { x.stream("", x.mapText) }

// mapText is the map itself.
func (x *exchange) mapText(text []byte) ([]byte, bool) { return text, true }

// bucketStream sends the description of a bucket with each newer map.
func bucketStream(x *exchange) {
	x.stream(x.r.PathValue("bucket"), func([]byte) ([]byte, bool) {
		for _, b := range x.s.cluster.Buckets() {
			if b.Name == x.r.PathValue("bucket") {
				text, err := marshal(x.bucketFields(&b))
				return text, err == nil
			}
		}
		return nil, false
	})
}

// poolStream sends the description of the cluster with each newer map.
func poolStream(x *exchange) {
	x.stream("", func([]byte) ([]byte, bool) {
		text, err := marshal(x.poolFields())
		return text, err == nil
	})
}

// stream sends a text made from the map of a bucket, and then from each newer one, until the client leaves or the bucket is
// dropped. Four line ends stand after each text. A fault that cuts after rows counts the texts.
func (x *exchange) stream(bucket string, text func(mapJSON []byte) ([]byte, bool)) {
	for first := true; ; first = false {
		b, changed, err := x.s.cluster.Map(x.node, bucket)
		found := err == nil
		if found {
			b, found = text(b)
		}
		if first && !x.beginStream(found) || !found {
			return
		}
		if _, err = x.Write(append(b[:len(b):len(b)], "\n\n\n\n"...)); err != nil {
			return
		}
		x.Flush()
		x.rowWritten()
		select {
		case <-changed:
		case <-x.req.ctx.Done():
			return
		}
	}
}

func (x *exchange) beginStream(found bool) bool {
	if !found {
		x.missing()
		return false
	}
	x.Header().Set("Content-Type", "application/json; charset=utf-8")
	x.WriteHeader(http.StatusOK)
	x.cutRows()
	return true
}
