package mongo

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

var (
	databaseFields   = supported("ReadConcern", "WriteConcern", "ReadPreference", "BSONOptions", "Registry")
	collectionFields = databaseFields
)

// scopeOptions are the options of databases and of collections.
type scopeOptions struct {
	ReadConcern    *readconcern.ReadConcern
	WriteConcern   *writeconcern.WriteConcern
	ReadPreference *readpref.ReadPref
	BSONOptions    *options.BSONOptions
	Registry       *bson.Registry
}

// narrow returns the scope with the options that are given.
func (s scope) narrow(c *Client, o scopeOptions) scope {
	s.codec = s.codec.with(o.Registry, o.BSONOptions)
	if o.ReadConcern != nil {
		s.readConcern.Level = o.ReadConcern.Level
	}
	if o.WriteConcern != nil {
		s = s.confirm(o.WriteConcern)
	}
	if o.ReadPreference != nil {
		s = s.prefer(c, o.ReadPreference)
	}
	return s
}
