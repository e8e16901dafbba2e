package httpapi

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// linkKey is what a request about a link names: by its path, or by fields. Either may be "" in a list.
func (x *exchange) linkKey(fields url.Values) (dataverse, name string) {
	dataverse, name = x.r.PathValue("dataverse"), x.r.PathValue("name")
	if dataverse == "" {
		dataverse = fields.Get("dataverse")
	}
	if name == "" {
		name = fields.Get("name")
	}
	return dataverse, name
}

// linkName is the name of a link among those of all dataverses.
func linkName(dataverse, name string) string { return dataverse + "\x00" + name }

// linkError answers with an error of the analytics service about links.
func (x *exchange) linkError(status, code int, text string) {
	x.json(status, map[string]string{"error": fmt.Sprintf("%d: %s", code, text)})
}

func listLinks(x *exchange) {
	if a, ok := x.scripted(); ok && x.whole(a) {
		return
	}
	query := x.r.URL.Query()
	dataverse, name := x.linkKey(query)
	links := []any{}
	for _, key := range x.s.links.names("") {
		ofDataverse, ofName, _ := strings.Cut(key, "\x00")
		link := x.s.links.get(key)
		if link == nil || dataverse != "" && dataverse != ofDataverse || name != "" && name != ofName ||
			query.Has("type") && query.Get("type") != link["type"] {
			continue
		}
		links = append(links, link)
	}
	x.json(http.StatusOK, links)
}

// secretFields are the fields of a link that no answer has.
var secretFields = []string{
	"password", "clientKey", "secretAccessKey", "sessionToken", "connectionString", "accountKey", "sharedAccessSignature",
}

// newLink returns a link as it is listed. The field for the dataverse is "scope" if it has a slash.
func newLink(dataverse, name string, form url.Values) map[string]any {
	link := map[string]any{}
	for field := range form {
		link[field] = form.Get(field)
	}
	for _, secret := range secretFields {
		delete(link, secret)
	}
	if host, ok := link["hostname"]; ok {
		link["activeHostname"] = host
	}
	delete(link, "dataverse")
	if strings.Contains(dataverse, "/") {
		link["scope"] = dataverse
	} else {
		link["dataverse"] = dataverse
	}
	link["name"] = name
	return link
}

var (
	errLinkExists  = errors.New("link exists")
	errLinkMissing = errors.New("link does not exist")
)

func createLink(x *exchange) {
	x.putLink(func(old map[string]any) error {
		if old != nil {
			return errLinkExists
		}
		return nil
	})
}

func replaceLink(x *exchange) {
	x.putLink(func(old map[string]any) error {
		if old == nil {
			return errLinkMissing
		}
		return nil
	})
}

func (x *exchange) putLink(check func(old map[string]any) error) {
	if a, ok := x.scripted(); ok && x.whole(a) {
		return
	}
	form, ok := x.form()
	if !ok {
		return
	}
	dataverse, name := x.linkKey(form)
	if dataverse == "" || name == "" || form.Get("type") == "" {
		x.linkError(http.StatusBadRequest, 21007, "a link needs a dataverse, a name and a type")
		return
	}
	err := x.s.links.put(linkName(dataverse, name), newLink(dataverse, name, form), check)
	switch {
	case err == nil:
		x.json(http.StatusOK, struct{}{})
	case errors.Is(err, errLinkExists):
		x.linkError(http.StatusConflict, 24055, "Link "+name+" already exists")
	default:
		x.linkError(http.StatusNotFound, 24006, "Link "+name+" does not exist")
	}
}

func dropLink(x *exchange) {
	if a, ok := x.scripted(); ok && x.whole(a) {
		return
	}
	form, ok := x.form()
	if !ok {
		return
	}
	maps.Copy(form, x.r.URL.Query())
	dataverse, name := x.linkKey(form)
	if !x.s.links.remove(linkName(dataverse, name)) {
		x.linkError(http.StatusNotFound, 24006, "Link "+name+" does not exist")
		return
	}
	x.json(http.StatusOK, struct{}{})
}
