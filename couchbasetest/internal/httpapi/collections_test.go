package httpapi

import (
	"strings"
	"testing"
)

func TestCollectionsAreMadeChangedAndDropped(t *testing.T) {
	s := New(newFake())
	const scopes = bucketsPath + "/default/scopes"
	expect(t, send(s, mgmt, "GET", scopes, ""), 200, `{"uid":"a","scopes":[{"name":"_default","uid":"0","collections":[{"name":"_default","uid":"0","maxTTL":0}]}]}`)
	expect(t, send(s, mgmt, "POST", scopes, "name=s"), 200, `{"uid":"b"}`)
	expect(t, send(s, mgmt, "POST", scopes+"/s/collections", "name=c&maxTTL=5"), 200, `{"uid":"c"}`)
	expect(t, send(s, mgmt, "POST", scopes+"/s/collections", "name=forever&maxTTL=-1"), 200, `{"uid":"d"}`)
	expect(t, send(s, mgmt, "GET", scopes, ""), 200, `{"name":"c","uid":"8","maxTTL":5}`, `{"name":"forever","uid":"8","maxTTL":-1}`)
	expect(t, send(s, mgmt, "PATCH", scopes+"/s/collections/c", "maxTTL=7"), 200, `{"uid":"e"}`)
	expect(t, send(s, mgmt, "GET", scopes, ""), 200, `{"name":"c","uid":"8","maxTTL":7}`)
	expect(t, send(s, mgmt, "DELETE", scopes+"/s/collections/c", ""), 200, `{"uid":"f"}`)
	expect(t, send(s, mgmt, "DELETE", scopes+"/s", ""), 200, `{"uid":"10"}`)
}

func TestErrorsOfCollectionsHaveTheTextsThatSDKsLookFor(t *testing.T) {
	for _, c := range []struct {
		name, method, path, form string
		status                   int
		text                     string
	}{
		{"scope exists", "POST", "", "name=s", 400, `Scope with name "s" already exists`},
		{"scope not found", "DELETE", "/none", "", 404, `Scope with name "none" is not found`},
		{"collection exists", "POST", "/s/collections", "name=c", 400, `Collection with name "c" in scope "s" already exists`},
		{"collection not found", "DELETE", "/s/collections/none", "", 404, `Collection with name "none" in scope "s" is not found`},
		{"change of a missing collection", "PATCH", "/s/collections/none", "maxTTL=1", 404, `Collection with name "none"`},
		{"collection in a missing scope", "POST", "/none/collections", "name=c", 404, `Scope with name "none" is not found`},
		{"the default scope stays", "DELETE", "/_default", "", 400, `Deleting _default scope is not allowed`},
		{"too many", "POST", "/s/collections", "name=second", 429, `Maximum number of collections has been reached for scope "s"`},
		{"no name", "POST", "", "", 400, `must be supplied`},
		{"a name with underscore", "POST", "", "name=_x", 400, `First character must not be _`},
		{"a name with a dot", "POST", "", "name=a.b", 400, `Can only contain characters`},
		{"a long name", "POST", "", "name=" + strings.Repeat("a", 252), 400, `Length`},
		{"an unknown field", "POST", "/s/collections", "name=x&color=red", 400, `"color":"Unsupported key"`},
		{"a bad expiry", "POST", "/s/collections", "name=x&maxTTL=-2", 400, `"maxTTL"`},
		{"history without magma", "POST", "/s/collections", "name=x&history=true", 400, `"history":"Not supported`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake()
			f.limit = 1
			s := New(f)
			const scopes = bucketsPath + "/default/scopes"
			expect(t, send(s, mgmt, "POST", scopes, "name=s"), 200)
			expect(t, send(s, mgmt, "POST", scopes+"/s/collections", "name=c"), 200)
			w := send(s, mgmt, c.method, scopes+c.path, c.form)
			expect(t, w, c.status)
			if plain := strings.ReplaceAll(w.Body.String(), `\"`, `"`); !strings.Contains(plain, c.text) {
				t.Errorf("body %s, want %s", plain, c.text)
			}
			// An SDK takes every text with these words for the error of a scope or of a collection.
			lower := strings.ToLower(w.Body.String())
			if strings.Contains(c.text, "Scope with") && strings.Contains(lower, "collection") {
				t.Errorf("an error of a scope speaks of a collection: %s", lower)
			}
		})
	}
}

func TestMagmaCollectionsHaveHistory(t *testing.T) {
	s := New(newFake())
	expect(t, send(s, mgmt, "POST", bucketsPath, "name=m&ramQuotaMB=100&storageBackend=magma"), 202)
	const collections = bucketsPath + "/m/scopes/_default/collections"
	expect(t, send(s, mgmt, "POST", collections, "name=c&history=true"), 200)
	expect(t, send(s, mgmt, "GET", bucketsPath+"/m/scopes", ""), 200, `{"name":"c","uid":"8","maxTTL":0,"history":true}`)
	expect(t, send(s, mgmt, "PATCH", collections+"/c", "history=false"), 200)
	expect(t, send(s, mgmt, "GET", bucketsPath+"/m/scopes", ""), 200, `{"name":"c","uid":"8","maxTTL":0,"history":false}`)
	expect(t, send(s, mgmt, "PATCH", collections+"/c", "history=x"), 400, `"history":"the value can only be true or false"`)
}

// Before 7.6 the service left out of the manifest what has its usual value, and a collection could not be without the bucket's expiry:
// ns_server names these differences beside its manifests.
func TestManifestsBefore76LackWhatIsUsual(t *testing.T) {
	f := newFake()
	f.identity.Release = Release{7, 2}
	s := New(f)
	expect(t, send(s, mgmt, "POST", bucketsPath, "name=m&ramQuotaMB=1024&storageBackend=magma"), 202)
	const collections = bucketsPath + "/m/scopes/_default/collections"
	expect(t, send(s, mgmt, "POST", collections, "name=c&history=false"), 200)
	expect(t, send(s, mgmt, "GET", bucketsPath+"/m/scopes", ""), 200, `{"name":"_default","uid":"0"}`, `{"name":"c","uid":"8"}`)
	expect(t, send(s, mgmt, "POST", collections, "name=forever&maxTTL=-1"), 400, `"maxTTL":"the value must be in range from 0`)
}

func TestABucketWithoutMagmaTakesThatACollectionHasNoHistory(t *testing.T) {
	s := New(newFake())
	expect(t, send(s, mgmt, "POST", bucketsPath+"/default/scopes/_default/collections", "name=c&history=false"), 200)
}
