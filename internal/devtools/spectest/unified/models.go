package unified

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// modelMakers make the write models of a collection's bulk write. A model's fields are set by name like options.
var modelMakers = map[string]func() mongoWriteModel{
	"insertOne":  func() mongoWriteModel { return mongoNewInsertOne() },
	"updateOne":  func() mongoWriteModel { return mongoNewUpdateOne() },
	"updateMany": func() mongoWriteModel { return mongoNewUpdateMany() },
	"replaceOne": func() mongoWriteModel { return mongoNewReplaceOne() },
	"deleteOne":  func() mongoWriteModel { return mongoNewDeleteOne() },
	"deleteMany": func() mongoWriteModel { return mongoNewDeleteMany() },
}

var clientModelMakers = map[string]func() mongoClientWriteModel{
	"insertOne":  func() mongoClientWriteModel { return mongoNewClientInsertOne() },
	"updateOne":  func() mongoClientWriteModel { return mongoNewClientUpdateOne() },
	"updateMany": func() mongoClientWriteModel { return mongoNewClientUpdateMany() },
	"replaceOne": func() mongoClientWriteModel { return mongoNewClientReplaceOne() },
	"deleteOne":  func() mongoClientWriteModel { return mongoNewClientDeleteOne() },
	"deleteMany": func() mongoClientWriteModel { return mongoNewClientDeleteMany() },
}

func writeModels(a *arguments) []mongoWriteModel {
	var models []mongoWriteModel
	for _, doc := range a.documents("requests") {
		if newModel, fields, ok := modelMaker(a, modelMakers, doc); ok {
			m := newModel()
			if err := setAll(m, documentValue(fields)); err != nil {
				a.fail("requests: %w", err)
			}
			models = append(models, m)
		}
	}
	return models
}

func clientModels(a *arguments) []mongoClientBulkWrite {
	var writes []mongoClientBulkWrite
	for _, doc := range a.documents("models") {
		newModel, fields, ok := modelMaker(a, clientModelMakers, doc)
		if !ok {
			continue
		}
		namespace, left := split(fields, "namespace")
		text, _ := namespace.StringValueOK()
		db, collection, _ := strings.Cut(text, ".")
		m := newModel()
		if err := setAll(m, documentValue(left)); err != nil {
			a.fail("models: %w", err)
		}
		writes = append(writes, mongoClientBulkWrite{Database: db, Collection: collection, Model: m})
	}
	return writes
}

// modelMaker reads {kind: fields}.
func modelMaker[M any](a *arguments, makers map[string]func() M, doc bson.Raw) (func() M, bson.Raw, bool) {
	elements, err := doc.Elements()
	if err != nil || len(elements) != 1 {
		a.fail("a write model has one key: %v", doc)
		return nil, nil, false
	}
	fields, isDocument := elements[0].Value().DocumentOK()
	newModel, known := makers[elements[0].Key()]
	if !isDocument || !known {
		a.fail("the write model %v is not supported by this runner", doc)
		return nil, nil, false
	}
	return newModel, fields, true
}

// split takes a field out of a document.
func split(doc bson.Raw, key string) (bson.RawValue, bson.Raw) {
	elements, err := doc.Elements()
	if err != nil {
		return bson.RawValue{}, doc
	}
	var left bson.D
	for _, e := range elements {
		if e.Key() != key {
			left = append(left, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	raw, err := bson.Marshal(left)
	if err != nil {
		return bson.RawValue{}, doc
	}
	return field(doc, key), raw
}
