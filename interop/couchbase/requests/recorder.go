// Package requests compares the requests that this project's Couchbase client sends to the HTTP services with those of gocb, the
// official SDK: method, path, headers and body, byte for byte.
package requests

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// Request is a request that a client sent.
type Request struct {
	Method, Path, Body string
	Header             http.Header
}

// Recorder is a node that records the requests to its HTTP services. Its key-value service only lets clients connect.
type Recorder struct {
	kv   net.Listener
	http net.Listener

	mu       sync.Mutex
	requests []Request
	enhanced bool
	answer   func(r Request) (status int, body string)
}

// NewRecorder starts a node with a bucket.
func NewRecorder(enhancedPreparedStatements bool) (*Recorder, error) {
	kv, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	services, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Recorder{kv: kv, http: services, enhanced: enhancedPreparedStatements}
	r.answer = func(Request) (int, string) { return http.StatusOK, `{"results":[],"rows":[],"hits":[]}` }
	go r.acceptKV()
	go http.Serve(services, r) //nolint:errcheck // it ends with the listener
	return r, nil
}

// Close ends the node.
func (r *Recorder) Close() {
	r.kv.Close()
	r.http.Close()
}

// ConnString returns the connection string.
func (r *Recorder) ConnString() string { return "couchbase://" + r.kv.Addr().String() }

// Answer sets the function that answers requests.
func (r *Recorder) Answer(f func(Request) (status int, body string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// Take returns the requests since the last call.
func (r *Recorder) Take() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.requests
	r.requests = nil
	return all
}

// ServeHTTP implements http.Handler.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	request := Request{Method: q.Method, Path: q.RequestURI, Body: string(body), Header: q.Header.Clone()}
	r.mu.Lock()
	r.requests = append(r.requests, request)
	answer := r.answer
	r.mu.Unlock()
	status, text := answer(request)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, text) //nolint:errcheck // the client may have left
}

// clusterMap is the map of a cluster with one node, with or without a bucket.
func (r *Recorder) clusterMap(bucket string) []byte {
	port := r.http.Addr().(*net.TCPAddr).Port
	kv := r.kv.Addr().(*net.TCPAddr).Port
	capabilities := []string{}
	if r.enhanced {
		capabilities = append(capabilities, "enhancedPreparedStatements")
	}
	m := map[string]any{
		"rev": 1, "revEpoch": 1,
		"clusterCapabilitiesVer": []int{1, 0},
		"clusterCapabilities":    map[string]any{"n1ql": append(capabilities, "readFromReplica"), "search": []string{"scopedSearchIndex", "vectorSearch"}},
		"nodesExt": []any{map[string]any{
			"hostname": "127.0.0.1", "thisNode": true,
			"services": map[string]int{"kv": kv, "mgmt": port, "capi": port, "n1ql": port, "fts": port, "cbas": port},
		}},
	}
	if bucket != "" {
		m["name"], m["uuid"], m["nodeLocator"] = bucket, "u", "vbucket"
		m["bucketCapabilities"] = []string{"collections", "durableWrite", "couchapi", "querySystemCollection"}
		m["nodes"] = []any{map[string]any{"hostname": fmt.Sprintf("127.0.0.1:%d", port), "couchApiBase": fmt.Sprintf("http://127.0.0.1:%d/%s", port, bucket), "ports": map[string]int{"direct": kv}}}
		m["vBucketServerMap"] = map[string]any{
			"hashAlgorithm": "CRC", "numReplicas": 0, "serverList": []string{fmt.Sprintf("127.0.0.1:%d", kv)}, "vBucketMap": [][]int{{0}, {0}},
		}
	}
	b, _ := json.Marshal(m) // strings and numbers only
	return b
}

func (r *Recorder) acceptKV() {
	for {
		c, err := r.kv.Accept()
		if err != nil {
			return
		}
		go r.serveKV(c)
	}
}

// serveKV lets a client connect: it accepts every feature and every password.
func (r *Recorder) serveKV(c net.Conn) {
	defer c.Close()
	bucket := ""
	for {
		header := make([]byte, 24)
		if _, err := io.ReadFull(c, header); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(header[8:]))
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		extras := int(header[4])
		key := body[extras : extras+int(binary.BigEndian.Uint16(header[2:]))]
		status, value := uint16(0), []byte(nil)
		switch header[1] {
		case 0x1f: // HELLO: xattr, xerror, select bucket, JSON, duplex, collections
			value = []byte{0, 6, 0, 7, 0, 8, 0, 0x0b, 0, 0x0c, 0, 0x12}
		case 0xfe: // error map
			value = []byte(`{"version":2,"revision":1,"errors":{}}`)
		case 0x20: // mechanisms
			value = []byte("PLAIN")
		case 0x21, 0x0a: // login, noop
		case 0x89: // select bucket
			bucket = string(key)
		case 0xb5: // map
			value = r.clusterMap(bucket)
		default:
			status = 0x81
		}
		reply := make([]byte, 24, 24+len(value))
		reply[0], reply[1] = 0x81, header[1]
		binary.BigEndian.PutUint16(reply[6:], status)
		binary.BigEndian.PutUint32(reply[8:], uint32(len(value)))
		copy(reply[12:16], header[12:16])
		if _, err := c.Write(append(reply, value...)); err != nil {
			return
		}
	}
}
