package unified

import (
	"fmt"
	"os"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// File is a file of the format.
type File struct {
	Description       string           `bson:"description"`
	SchemaVersion     string           `bson:"schemaVersion"`
	RunOnRequirements []requirement    `bson:"runOnRequirements"`
	CreateEntities    []bson.Raw       `bson:"createEntities"`
	InitialData       []collectionData `bson:"initialData"`
	Tests             []Test           `bson:"tests"`
	Anchors           bson.RawValue    `bson:"_yamlAnchors"` // only for whoever wrote the file
}

// Test is one case of a file.
type Test struct {
	Description           string            `bson:"description"`
	RunOnRequirements     []requirement     `bson:"runOnRequirements"`
	SkipReason            string            `bson:"skipReason"`
	Operations            []bson.Raw        `bson:"operations"`
	ExpectEvents          []expectedEvents  `bson:"expectEvents"`
	ExpectLogMessages     []expectedLogs    `bson:"expectLogMessages"`
	ExpectTracingMessages []expectedTracing `bson:"expectTracingMessages"`
	Outcome               []collectionData  `bson:"outcome"`
}

type collectionData struct {
	CollectionName string     `bson:"collectionName"`
	DatabaseName   string     `bson:"databaseName"`
	CreateOptions  bson.Raw   `bson:"createOptions"`
	Documents      []bson.Raw `bson:"documents"`
}

type expectedEvents struct {
	Client            string     `bson:"client"`
	EventType         string     `bson:"eventType"`
	Events            []bson.Raw `bson:"events"`
	IgnoreExtraEvents bool       `bson:"ignoreExtraEvents"`
}

// ReadFile reads a file, which is extended JSON.
func ReadFile(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Parse reads the text of a file. That the runner cannot run a file of this version is found when it runs.
func Parse(text []byte) (*File, error) {
	var doc bson.Raw
	if err := bson.UnmarshalExtJSON(text, false, &doc); err != nil {
		return nil, err
	}
	f := new(File)
	if err := decode(doc, f); err != nil {
		return nil, err
	}
	return f, nil
}
