package mockcontrol

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// control serves the control port of a cluster. It is safe for concurrent use.
type control struct {
	cluster *couchbasetest.Cluster
	rules   rules

	mu        sync.Mutex               // guards what follows
	rebalance *couchbasetest.Rebalance // the newest one
}

// New returns the handler of the control port of a cluster.
func New(cluster *couchbasetest.Cluster) http.Handler {
	c := &control{cluster: cluster}
	mux := http.NewServeMux()
	for pattern, command := range c.commands() {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			answer, err := command(r)
			reply(w, answer, err)
		})
	}
	mux.HandleFunc("/", notFound)
	return mux
}

// command executes a request and returns what is sent as JSON.
type command func(*http.Request) (any, error)

func (c *control) commands() map[string]command {
	all := map[string]command{
		"GET /{$}":              c.state,
		"POST /nodes":           c.addNode,
		"POST /rebalance":       c.wholeRebalance,
		"POST /rebalance/start": c.startRebalance,
		"POST /rebalance/move":  c.moveRebalance,
		"POST /rebalance/stop":  c.stopRebalance,
		"POST /settings":        c.change,
		"POST /error-map":       c.setErrorMap,
		"POST /faults/kv":       c.addFault,
		"POST /faults/http":     c.addHTTPFault,
		"POST /scripts":         c.addScript,
		"GET /rules":            c.listRules,
		"DELETE /rules":         c.removeRules,
		"DELETE /rules/{id}":    c.removeRule,
		"GET /counters":         c.counters,
		"GET /journal":          c.journal,
		"GET /http-requests":    c.httpRequests,
		"GET /document":         c.document,
		"POST /reset":           c.reset,
	}
	for name, act := range nodeActions {
		all["POST /nodes/{node}/"+name] = func(r *http.Request) (any, error) { return c.onNode(r, act) }
	}
	return all
}

// problem is an error with its HTTP status.
type problem struct {
	status int
	field  string // of the request, "" if the problem is not about one
	text   string
}

func (p *problem) Error() string {
	if p.field != "" {
		return p.field + ": " + p.text
	}
	return p.text
}

// badField says what is wrong with a field of the body or a parameter of the URL.
func badField(field, format string, args ...any) error {
	return &problem{http.StatusBadRequest, field, fmt.Sprintf(format, args...)}
}

// refused says why the cluster does not execute a command now.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return &problem{http.StatusConflict, "", err.Error()}
}

func notFound(w http.ResponseWriter, r *http.Request) {
	reply(w, nil, &problem{http.StatusNotFound, "", "there is no command " + r.Method + " " + r.URL.Path})
}

// reply sends an answer or an error. Without an answer it sends an empty object.
func reply(w http.ResponseWriter, answer any, err error) {
	status := http.StatusOK
	if err != nil {
		p := &problem{status: http.StatusInternalServerError, text: err.Error()}
		errors.As(err, &p)
		body := map[string]string{"error": p.Error()}
		if p.field != "" {
			body["field"] = p.field
		}
		status, answer = p.status, body
	}
	if answer == nil {
		answer = struct{}{}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(answer)
}

// nodeOf returns the node that a URL names.
func (c *control) nodeOf(r *http.Request) (int, error) {
	text := r.PathValue("node")
	n, err := strconv.Atoi(text)
	if count := len(c.cluster.State().Nodes); err != nil || n < 0 || n >= count {
		return 0, &problem{http.StatusNotFound, "node", fmt.Sprintf("there is no node %q; the nodes are 0 to %d", text, count-1)}
	}
	return n, nil
}

// checkNodes returns an error for the first number that is not one of a node.
func (c *control) checkNodes(field string, nodes []int) error {
	count := len(c.cluster.State().Nodes)
	for _, n := range nodes {
		if n < 0 || n >= count {
			return badField(field, "there is no node %d; the nodes are 0 to %d", n, count-1)
		}
	}
	return nil
}
