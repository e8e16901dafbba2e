package httpapi

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"strings"
)

// indexPlan is the answer about one index.
type indexPlan struct {
	Status   string         `json:"status"`
	IndexDef map[string]any `json:"indexDef"`
	Plans    any            `json:"planPIndexes"`
	Warnings []string       `json:"warnings"`
}

// indexPrefix is what the names of the indexes of a request's scope begin with; those of the cluster have nothing there.
func indexPrefix(x *exchange) string {
	if bucket := x.r.PathValue("bucket"); bucket != "" {
		return bucket + "." + x.r.PathValue("scope") + "."
	}
	return ""
}

func listIndexes(x *exchange) {
	prefix := indexPrefix(x)
	defs := map[string]any{}
	for _, name := range x.s.indexes.names(prefix) {
		if def := x.definition(prefix + name); def != nil {
			defs[name] = def
		}
	}
	x.json(http.StatusOK, map[string]any{
		"status":    "ok",
		"indexDefs": map[string]any{"uuid": x.s.cluster.Identity().UUID, "indexDefs": defs, "implVersion": "5.7.0"},
	})
}

func getIndex(x *exchange) {
	if !x.missingIndex() {
		x.json(http.StatusOK, indexPlan{Status: "ok", IndexDef: x.definition(x.req.Index), Warnings: []string{}})
	}
}

// definition returns the definition of an index. A request to a scope gets the name that the index has there.
func (x *exchange) definition(name string) map[string]any {
	def := maps.Clone(x.s.indexes.get(name))
	if def != nil {
		def["name"] = strings.TrimPrefix(name, indexPrefix(x))
	}
	return def
}

// indexName is the form of the name of an index in a scope, and fullIndexName of one of the cluster, which may name a scope.
var (
	indexName     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	fullIndexName = regexp.MustCompile(`^([A-Za-z0-9_.%-]+\.[A-Za-z0-9_%-]+\.)?[A-Za-z][A-Za-z0-9_-]*$`)
)

var (
	errIndexExists = errors.New("rest_create_index: error creating index, err: manager_api: cannot create index because an index with the same name already exists")
	errIndexUUID   = errors.New("rest_create_index: error creating index, err: manager_api: index UUID does not match the current index UUID")
)

// putIndex creates an index, or changes one whose UUID the request has.
func putIndex(x *exchange) {
	var def map[string]any
	if json.Unmarshal(x.req.Body, &def) != nil || def == nil {
		x.searchError(http.StatusBadRequest, "rest_create_index: the body is not a JSON object")
		return
	}
	kind, _ := def["type"].(string)
	if kind == "" {
		x.searchError(http.StatusBadRequest, "rest_create_index: index type is required")
		return
	}
	name, form := x.req.Index, fullIndexName
	if x.req.Bucket != "" {
		form = indexName
	}
	if !form.MatchString(x.r.PathValue("index")) {
		x.searchError(http.StatusBadRequest, "rest_create_index: error creating index, err: manager_api: invalid index name: "+x.r.PathValue("index"))
		return
	}
	given, _ := def["uuid"].(string)
	uuid := x.s.newID()
	def["uuid"] = uuid
	err := x.s.indexes.put(name, def, func(old map[string]any) error {
		switch {
		case old == nil && given != "" || old != nil && given != "" && given != old["uuid"]:
			return errIndexUUID
		case old != nil && given == "":
			return errIndexExists
		}
		return nil
	})
	if err != nil {
		x.searchError(http.StatusBadRequest, err.Error())
		return
	}
	x.json(http.StatusOK, map[string]string{"status": "ok", "name": x.r.PathValue("index"), "uuid": uuid})
}

func dropIndex(x *exchange) {
	if x.missingIndex() {
		return
	}
	x.s.indexes.remove(x.req.Index)
	x.json(http.StatusOK, map[string]string{"status": "ok", "uuid": x.s.newID()})
}

// countIndexed answers the number of indexed documents: a script's, or none.
func countIndexed(x *exchange) {
	if !x.missingIndex() {
		scriptedGet(map[string]any{"status": "ok", "count": 0})(x)
	}
}

// searchStats answers the statistics of an index: a script's, or none.
func searchStats(x *exchange) {
	if !x.missingIndex() {
		scriptedGet(map[string]any{"status": "ok"})(x)
	}
}

// controls are what may be switched for an index, with the two operations.
var controls = map[string][2]string{
	"ingestControl":     {"pause", "resume"},
	"queryControl":      {"allow", "disallow"},
	"planFreezeControl": {"freeze", "unfreeze"},
}

// controlIndex switches the intake, the searches or the plan of an index on and off. Searches come from scripts, so there is
// nothing to switch; the request is recorded.
func controlIndex(x *exchange) {
	operations, known := controls[x.r.PathValue("control")]
	if !known {
		notServed(x)
		return
	}
	operation := x.r.PathValue("operation")
	switch {
	case x.missingIndex():
	case operation != operations[0] && operation != operations[1]:
		x.searchError(http.StatusBadRequest, "rest_index: unknown operation "+operation)
	default:
		x.json(http.StatusOK, map[string]string{"status": "ok"})
	}
}
