package couchbasetest

import (
	"strings"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func getManifest(x *exec) *Reply {
	if !x.cluster.profile.accepted.Has(memd.FeatureCollections) {
		return refusal(memd.StatusUnknownCommand)
	}
	return &Reply{Value: marshal(x.manifest().toJSON()), JSON: true}
}

// named returns the scope and the collection that the value, or the key, of a request names. What is empty is "_default".
func (x *exec) named() (scope, collection string) {
	text := x.p.Value
	if len(text) == 0 {
		text = x.p.Key
	}
	scope, collection, _ = strings.Cut(string(text), ".")
	if scope == "" {
		scope = defaultName
	}
	if collection == "" {
		collection = defaultName
	}
	return scope, collection
}

func getCollectionID(x *exec) *Reply {
	if !x.cluster.profile.accepted.Has(memd.FeatureCollections) {
		return refusal(memd.StatusUnknownCommand)
	}
	name, collection := x.named()
	s := x.manifest().scope(name)
	if s == nil {
		return x.unknownCollection(memd.StatusUnknownScope)
	}
	c := s.collection(collection)
	if c == nil {
		return x.unknownCollection(memd.StatusUnknownCollection)
	}
	return &Reply{Extras: memd.AppendCollection(nil, memd.CollectionID{ManifestUID: x.manifest().uid, ID: c.id})}
}

func getScopeID(x *exec) *Reply {
	if !x.cluster.profile.accepted.Has(memd.FeatureCollections) {
		return refusal(memd.StatusUnknownCommand)
	}
	name, _ := x.named()
	s := x.manifest().scope(name)
	if s == nil {
		return x.unknownCollection(memd.StatusUnknownScope)
	}
	return &Reply{Extras: memd.AppendCollection(nil, memd.CollectionID{ManifestUID: x.manifest().uid, ID: s.id})}
}
