package services

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/retry"
)

func TestACompressedAnswerIsRead(t *testing.T) {
	for name, keep := range map[string]int{"whole": 1 << 20, "cut": 20} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				node := answers(func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Accept-Encoding") != "gzip" {
						t.Errorf("accepted: %q", r.Header.Get("Accept-Encoding"))
					}
					w.Header().Set("Content-Encoding", "gzip")
					z := gzip.NewWriter(&firstBytes{w, keep})
					io.WriteString(z, oneRow)
					z.Close()
				})
				cluster.serve(t, "a:1", node)
				c, _ := cluster.client(t)
				defer c.Close()
				rows, err := stream(c, clustermap.Query, retry.NotIdempotent)
				if err != nil && name == "whole" || err == nil && name == "cut" {
					t.Fatal(err)
				}
				if err == nil && (len(all(rows)) != 1 || rows.Err() != nil) {
					t.Errorf("%v", rows.Err())
				}
			})
		})
	}
}

// firstBytes writes only so many bytes.
type firstBytes struct {
	io.Writer
	left int
}

func (f *firstBytes) Write(b []byte) (int, error) {
	n := min(f.left, len(b))
	f.left -= n
	if _, err := f.Writer.Write(b[:n]); err != nil {
		return 0, err
	}
	return len(b), nil
}

// TestACompressedAnswerThatIsNoJSONIsUnknown: the answer is complete, so the connection's end after it is no loss.
func TestACompressedAnswerThatIsNoJSONIsUnknown(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.WriteString(z, `{"results":[`)
		z.Close()
		node := answers(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
			w.Header().Set("Connection", "close")
			w.Write(b.Bytes())
		})
		cluster.serve(t, "a:1", node)
		c, log := cluster.client(t)
		defer c.Close()
		_, err := stream(c, clustermap.Query, retry.ReadOnly)
		if err == nil || node.count() != 1 || log.String() != "UNKNOWN answered -> not retryable" {
			t.Errorf("%v, %d requests, log:\n%v", err, node.count(), log)
		}
	})
}
