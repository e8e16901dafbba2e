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

func terseMapStream(x *exchange)     { x.streamMap(x.r.PathValue("bucket")) }
func nodeServicesStream(x *exchange) { x.streamMap("") }

// streamMap sends the map, and then each newer one, until the client leaves or the bucket is dropped. Four line ends stand
// after each map. A fault that cuts after rows counts the maps.
func (x *exchange) streamMap(bucket string) {
	for first := true; ; first = false {
		b, changed, err := x.s.cluster.Map(x.node, bucket)
		switch {
		case err != nil && first:
			x.missing()
			return
		case err != nil:
			return
		case first:
			x.Header().Set("Content-Type", "application/json; charset=utf-8")
			x.WriteHeader(http.StatusOK)
			x.cutRows()
		}
		_, err = x.Write(append(b[:len(b):len(b)], "\n\n\n\n"...))
		if err != nil {
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
