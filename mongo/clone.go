package mongo

import "go.mongodb.org/mongo-driver/v2/mongo/options"

// Clone returns a copy of the handle with other options. Options that are not given come from coll. An option that is not
// honoured is an error of the copy's operations.
func (coll *Collection) Clone(opts ...options.Lister[options.CollectionOptions]) *Collection {
	o, err := collect(collectionFields, opts)
	if err == nil {
		err = coll.err
	}
	if err != nil {
		return &Collection{db: coll.db, name: coll.name, err: err}
	}
	return &Collection{db: coll.db, name: coll.name, scope: coll.scope.narrow(coll.db.client, scopeOptions(o))}
}
