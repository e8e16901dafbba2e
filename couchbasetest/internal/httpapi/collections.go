package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"
)

// keyspaceName is the form of the names of scopes and collections that users make.
var keyspaceName = regexp.MustCompile(`^[A-Za-z0-9-][A-Za-z0-9_%-]{0,250}$`)

const defaultScope = "_default"

// manifestJSON is a manifest as the service writes it. UIDs are hexadecimal.
type manifestJSON struct {
	UID    string      `json:"uid"`
	Scopes []scopeJSON `json:"scopes"`
}

type scopeJSON struct {
	Name        string           `json:"name"`
	UID         string           `json:"uid"`
	Collections []collectionJSON `json:"collections"`
}

type collectionJSON struct {
	Name    string `json:"name"`
	UID     string `json:"uid"`
	MaxTTL  *int64 `json:"maxTTL,omitempty"`
	History *bool  `json:"history,omitempty"`
}

func listScopes(x *exchange) {
	m, err := x.s.cluster.Manifest(x.r.PathValue("bucket"))
	if err != nil {
		x.missing()
		return
	}
	all := x.s.cluster.Identity().Release.AtLeast(7, 6)
	out := manifestJSON{UID: hexadecimal(m.UID), Scopes: []scopeJSON{}}
	for _, s := range m.Scopes {
		scope := scopeJSON{s.Name, hexadecimal(s.UID), []collectionJSON{}}
		for _, c := range s.Collections {
			scope.Collections = append(scope.Collections, c.describe(all))
		}
		out.Scopes = append(out.Scopes, scope)
	}
	x.json(http.StatusOK, out)
}

// describe returns the collection as the manifest has it: with all its settings, as since 7.6, or without those that have their usual values.
func (c *Collection) describe(all bool) collectionJSON {
	j := collectionJSON{Name: c.Name, UID: hexadecimal(c.UID)}
	if all || c.MaxExpiry != 0 {
		seconds := int64(c.MaxExpiry / time.Second)
		j.MaxTTL = &seconds
	}
	if c.History != nil && (all || *c.History) {
		j.History = c.History
	}
	return j
}

func hexadecimal(uid uint64) string { return strconv.FormatUint(uid, 16) }

func createScope(x *exchange) {
	_, ok := x.bucket()
	if !ok {
		return
	}
	form, ok := x.form()
	if !ok || !x.permitted(form, "name") || !x.named(form) {
		return
	}
	uid, err := x.s.cluster.CreateScope(x.r.PathValue("bucket"), form.Get("name"))
	x.manifestChanged(uid, err, form.Get("name"), "")
}

func dropScope(x *exchange) {
	bucket, ok := x.bucket()
	scope := x.r.PathValue("scope")
	switch {
	case !ok:
	case scope == defaultScope:
		x.invalid(http.StatusBadRequest, map[string]string{"_": "Deleting _default scope is not allowed"})
	default:
		uid, err := x.s.cluster.DropScope(bucket.Name, scope)
		x.manifestChanged(uid, err, scope, "")
	}
}

func createCollection(x *exchange) {
	bucket, ok := x.bucket()
	if !ok {
		return
	}
	form, ok := x.form()
	if !ok || !x.permitted(form, "name", "maxTTL", "history") || !x.named(form) {
		return
	}
	change, ok := x.collectionSettings(&bucket, form)
	if !ok {
		return
	}
	c := Collection{Name: form.Get("name"), History: change.History}
	if change.MaxExpiry != nil {
		c.MaxExpiry = *change.MaxExpiry
	}
	scope := x.r.PathValue("scope")
	uid, err := x.s.cluster.CreateCollection(bucket.Name, scope, c)
	x.manifestChanged(uid, err, scope, c.Name)
}

func updateCollection(x *exchange) {
	bucket, ok := x.bucket()
	if !ok {
		return
	}
	form, ok := x.form()
	if !ok || !x.permitted(form, "maxTTL", "history") {
		return
	}
	change, ok := x.collectionSettings(&bucket, form)
	if !ok {
		return
	}
	scope := x.r.PathValue("scope")
	change.Name = x.r.PathValue("collection")
	uid, err := x.s.cluster.UpdateCollection(bucket.Name, scope, change)
	x.manifestChanged(uid, err, scope, change.Name)
}

func dropCollection(x *exchange) {
	bucket, ok := x.bucket()
	if !ok {
		return
	}
	scope, name := x.r.PathValue("scope"), x.r.PathValue("collection")
	uid, err := x.s.cluster.DropCollection(bucket.Name, scope, name)
	x.manifestChanged(uid, err, scope, name)
}

// permitted answers a form that has other fields than those named.
func (x *exchange) permitted(form url.Values, names ...string) bool {
	wrong := map[string]string{}
	for given := range form {
		wrong[given] = "Unsupported key"
	}
	for _, name := range names {
		delete(wrong, name)
	}
	if len(wrong) > 0 {
		x.invalid(http.StatusBadRequest, wrong)
	}
	return len(wrong) == 0
}

// named answers a form whose name no scope and no collection may have.
func (x *exchange) named(form url.Values) bool {
	wrong := ""
	switch name := form.Get("name"); {
	case name == "":
		wrong = "The value must be supplied"
	case name[0] == '_' || name[0] == '%':
		wrong = "First character must not be _ or %"
	case len(name) > 251:
		wrong = "Length must be in range from 1 to 251"
	case !keyspaceName.MatchString(name):
		wrong = "Can only contain characters A-Z, a-z, 0-9 and the following symbols _ - %"
	}
	if wrong != "" {
		x.invalid(http.StatusBadRequest, map[string]string{"name": wrong})
	}
	return wrong == ""
}

// collectionSettings reads the settings of a collection. It answers if one is wrong.
func (x *exchange) collectionSettings(b *Bucket, form url.Values) (c CollectionChange, ok bool) {
	wrong := map[string]string{}
	if form.Has("maxTTL") {
		low := int64(-1) // documents live for ever, though those of the bucket do not
		if !x.s.cluster.Identity().Release.AtLeast(7, 6) {
			low = 0
		}
		if n, err := number(form.Get("maxTTL"), low, maxTTL); err != nil {
			wrong["maxTTL"] = err.Error()
		} else {
			d := time.Duration(n) * time.Second
			c.MaxExpiry = &d
		}
	}
	if form.Has("history") {
		var on bool
		if err := switched(&on, form.Get("history"), "true", "false"); err != nil {
			wrong["history"] = err.Error()
		} else if on && b.Storage != "magma" {
			wrong["history"] = "Not supported: the bucket's storageBackend is not magma"
		} else {
			c.History = &on
		}
	}
	if len(wrong) > 0 {
		x.invalid(http.StatusBadRequest, wrong)
	}
	return c, len(wrong) == 0
}

// manifestChanged answers a request that has changed the manifest. The SDKs find out by the texts which error it is.
func (x *exchange) manifestChanged(uid uint64, err error, scope, collection string) {
	where := fmt.Sprintf("Collection with name %q in scope %q ", collection, scope)
	var text string
	status := http.StatusBadRequest
	var limit *LimitError
	switch {
	case err == nil:
		x.json(http.StatusOK, map[string]string{"uid": hexadecimal(uid)})
		return
	case errors.Is(err, ErrBucketNotFound):
		x.missing()
		return
	case errors.Is(err, ErrScopeNotFound):
		status, text = http.StatusNotFound, fmt.Sprintf("Scope with name %q is not found", scope)
	case errors.Is(err, ErrScopeExists):
		text = fmt.Sprintf("Scope with name %q already exists", scope)
	case errors.Is(err, ErrCollectionNotFound):
		status, text = http.StatusNotFound, where+"is not found"
	case errors.Is(err, ErrCollectionExists):
		text = where + "already exists"
	case errors.As(err, &limit):
		status, text = http.StatusTooManyRequests, fmt.Sprintf("Maximum number of %s has been reached for scope %q", limit.What, scope)
	default:
		text = err.Error()
	}
	x.invalid(status, map[string]string{"_": text})
}
