package couchbasetest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestManifestsShowTheSettingsOfCollections compares the manifest of the management service with that of a node, which lacks what the
// bucket decides. ns_server and kv_engine write them so.
func TestManifestsShowTheSettingsOfCollections(t *testing.T) {
	for _, test := range []struct {
		sentence          string
		version           string
		storage           string
		collection        Collection
		ofService, ofNode string
	}{
		{"no expiry of its own", "7.6", "couchstore", Collection{}, `"maxTTL":0,"history":false`, ``},
		{"an expiry", "7.6", "couchstore", Collection{MaxExpiry: time.Minute}, `"maxTTL":60,"history":false`, `"maxTTL":60`},
		{"without the bucket's expiry", "7.6", "couchstore", Collection{MaxExpiry: -1}, `"maxTTL":-1,"history":false`, `"maxTTL":0`},
		{"the history of a bucket of magma", "7.6", "magma", Collection{}, `"maxTTL":0,"history":true`, `"history":true`},
		{"no history", "7.6", "magma", Collection{History: new(bool)}, `"maxTTL":0,"history":false`, ``},
		{"7.2 leaves out what is usual", "7.2", "couchstore", Collection{}, ``, ``},
		{"7.2 shows a history", "7.2", "magma", Collection{}, `"history":true`, `"history":true`},
		{"7.1 knows no history", "7.1", "magma", Collection{}, ``, ``},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			c := RunT(t, VBuckets(1), Version(test.version))
			if err := c.CreateBucket(Bucket{Name: "b", Storage: test.storage}); err != nil {
				t.Fatal(err)
			}
			test.collection.Name = "c"
			if _, err := c.CreateCollection("b", "_default", test.collection); err != nil {
				t.Fatal(err)
			}
			ofNode, err := json.Marshal(c.buckets["b"].manifest.toJSON())
			if err != nil {
				t.Fatal(err)
			}
			for text, settings := range map[string]string{string(ofNode): test.ofNode, readManifest(t, c): test.ofService} {
				want := `{"name":"c","uid":"8"}`
				if settings != "" {
					want = `{"name":"c","uid":"8",` + settings + `}`
				}
				if !strings.Contains(text, want) {
					t.Errorf("the manifest is %s, want in it %s", text, want)
				}
			}
		})
	}
}

// readManifest returns what the management service answers.
func readManifest(t *testing.T, c *Cluster) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.Address(0, "mgmt")+"/pools/default/buckets/b/scopes", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(c.Username(), c.Password())
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestACollectionIsNamedByItsID(t *testing.T) {
	c := RunT(t, InMemory())
	if _, err := c.CreateScope("default", "shop"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateCollection("default", "shop", Collection{Name: "orders"}); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := c.CollectionName("other", 0); ok {
		t.Error("a bucket that is not there has a collection")
	}
	for id, want := range map[uint32]string{0: "_default._default true", 9: "shop.orders true", 10: ". false"} {
		scope, name, ok := c.CollectionName("default", id)
		if got := scope + "." + name + map[bool]string{true: " true", false: " false"}[ok]; got != want {
			t.Errorf("the collection %d is %s, want %s", id, got, want)
		}
	}
}
