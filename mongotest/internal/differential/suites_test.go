package differential

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
)

// suites are the published ones whose operations are asked as commands.
var suites = []string{"crud/tests/unified", "collection-management/tests", "index-management/tests"}

// unasked are the operations that are no commands on data, or that the real server compared with does not have.
var unasked = map[string]string{
	"failPoint": "what a client does after failures", "modifyCollection": "collMod is not there",
	"createSearchIndex": "search indexes are not there", "createSearchIndexes": "search indexes are not there",
	"dropSearchIndex": "search indexes are not there", "updateSearchIndex": "search indexes are not there",
	"listSearchIndexes": "search indexes are not there", "assertCollectionExists": "the runner's own",
}

// suiteFile holds the used fields of a file of the unified test format.
type suiteFile struct {
	CreateEntities []struct {
		Database   *struct{ ID string }
		Collection *struct {
			ID             string
			CollectionName string `bson:"collectionName"`
		}
	} `bson:"createEntities"`
	InitialData []struct {
		CollectionName string `bson:"collectionName"`
		Documents      bson.A
	} `bson:"initialData"`
	Tests []struct {
		Description string
		Operations  []suiteOperation
	}
}

type suiteOperation struct {
	Name, Object string
	Arguments    bson.D
}

// named returns the collection that an entity stands for, "" for a database.
func (f *suiteFile) named(object string) string {
	for _, e := range f.CreateEntities {
		if e.Collection != nil && e.Collection.ID == object {
			return e.Collection.CollectionName
		}
	}
	return ""
}

// suiteRun is what the tests of the suites have in common.
type suiteRun struct {
	*pair
	table   *differenceTable
	asked   int
	skipped map[string]bool // the operations that were left out
}

func TestPublishedSuites(t *testing.T) {
	run := &suiteRun{pair: newPair(t, "suites"), table: readDifferences(t), skipped: make(map[string]bool)}
	root := spectest.Folder(t)
	for _, suite := range suites {
		files, err := filepath.Glob(filepath.Join(root, suite, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", suite, len(files), err)
		}
		for _, path := range files {
			var f suiteFile
			spectest.Load(t, path, &f)
			for i := range f.Tests {
				t.Run(filepath.Base(path)+"/"+f.Tests[i].Description, func(t *testing.T) {
					run.compare(t, suitePlace+filepath.Base(path), run.commands(t, &f, i))
				})
			}
		}
	}
	for name, why := range unasked {
		if !run.skipped[name] {
			t.Errorf("%s need not be left out any more: %s", name, why)
		}
	}
	for _, row := range run.table.unused(func(place string) bool { return strings.HasPrefix(place, suitePlace) }) {
		t.Errorf("%s: is no difference: %s", differencesFile, row)
	}
	t.Logf("%d commands", run.asked)
	if run.asked < 300 {
		t.Errorf("only %d commands", run.asked)
	}
}

// commands returns the initial data of one test, its operations, and what reads all data in the end.
func (r *suiteRun) commands(t *testing.T, f *suiteFile, i int) []bson.D {
	t.Helper()
	var list []bson.D
	for _, d := range f.InitialData {
		list = append(list, bson.D{{Key: "create", Value: d.CollectionName}})
		if len(d.Documents) > 0 {
			list = append(list, bson.D{{Key: "insert", Value: d.CollectionName}, {Key: "documents", Value: d.Documents}})
		}
	}
	for _, op := range f.Tests[i].Operations {
		made := op.commands(f, r.db)
		if made == nil {
			if unasked[op.Name] == "" {
				t.Errorf("%s is neither asked nor left out with a reason", op.Name)
			}
			r.skipped[op.Name] = true
		}
		list = append(list, made...)
	}
	for _, d := range f.InitialData {
		list = append(list, bson.D{{Key: "find", Value: d.CollectionName}, {Key: "sort", Value: bson.D{{Key: "_id", Value: 1}}}})
	}
	return list
}

// compare asks both servers, up to the first difference, which must have its reason. A command without a reply is asked again
// once: the real server may have been started anew.
func (r *suiteRun) compare(t *testing.T, place string, list []bson.D) {
	t.Helper()
	differing, err := r.firstDifference(list)
	if err != nil {
		differing, err = r.firstDifference(list)
	}
	if err != nil {
		t.Fatal(err)
	}
	if differing != nil && r.table.reason(place, r.show(differing.command)) == "" {
		t.Errorf("%s\ngot  %s\nwant %s", r.show(differing.command), differing.ours.text, differing.theirs.text)
	}
}

// firstDifference asks commands of both servers, from nothing, and returns the first answer that differs, nil if none does.
func (r *suiteRun) firstDifference(list []bson.D) (*answer, error) {
	for _, s := range []*server{r.ours, r.theirs} {
		if _, err := s.run(bson.D{{Key: "dropDatabase", Value: 1}, {Key: "$db", Value: r.db}}); err != nil {
			return nil, err
		}
	}
	for _, command := range list {
		r.asked++
		a, err := r.ask(append(command, bson.E{Key: "$db", Value: databaseOf(command, r.db)}))
		if err != nil || !a.same() {
			return &a, err
		}
	}
	return nil, nil
}

// databaseOf is where a command goes: bulkWrite to admin.
func databaseOf(command bson.D, db string) string {
	if command[0].Key == "bulkWrite" {
		return "admin"
	}
	return db
}

// command begins a command on a collection with the arguments that it has in common with the operation.
func (op *suiteOperation) command(name string, target any, take ...string) bson.D {
	d := bson.D{{Key: name, Value: target}}
	for _, e := range op.Arguments {
		if slices.Contains(take, e.Key) {
			d = append(d, e)
		}
	}
	return d
}

func (op *suiteOperation) argument(name string) any {
	for _, e := range op.Arguments {
		if e.Key == name {
			return e.Value
		}
	}
	return nil
}

// renamed returns an argument under another name, nothing if there is none.
func (op *suiteOperation) renamed(name, as string) bson.D {
	if v := op.argument(name); v != nil {
		return bson.D{{Key: as, Value: v}}
	}
	return nil
}

// commands returns what a client sends for the operation, nil if it is none that is asked.
func (op *suiteOperation) commands(f *suiteFile, db string) []bson.D {
	coll := f.named(op.Object)
	one := func(d bson.D) []bson.D { return []bson.D{d} }
	switch op.Name {
	case "find":
		return one(op.command("find", coll, "filter", "sort", "skip", "limit", "batchSize", "hint", "let", "projection", "min", "max",
			"collation", "allowDiskUse", "comment", "returnKey", "showRecordId"))
	case "findOne":
		return one(append(op.command("find", coll, "filter", "sort", "skip", "hint", "let", "projection", "collation"),
			bson.E{Key: "limit", Value: 1}, bson.E{Key: "singleBatch", Value: true}))
	case "aggregate":
		return one(op.aggregate(coll))
	case "distinct":
		d := append(bson.D{{Key: "distinct", Value: coll}}, op.renamed("fieldName", "key")...)
		return one(append(append(d, op.renamed("filter", "query")...), op.command("", "", "collation", "hint", "comment")[1:]...))
	case "count":
		return one(append(op.command("count", coll, "skip", "limit", "hint", "collation"), op.renamed("filter", "query")...))
	case "countDocuments":
		return one(op.countDocuments(coll))
	case "estimatedDocumentCount":
		return one(op.command("count", coll, "comment"))
	case "createIndex", "dropIndex", "dropIndexes", "listIndexes", "listIndexNames":
		return one(op.index(coll))
	case "createCollection":
		return one(append(bson.D{{Key: "create", Value: op.argument("collection")}}, op.others("collection", "session")...))
	case "dropCollection":
		return one(bson.D{{Key: "drop", Value: op.argument("collection")}})
	case "listCollections", "listCollectionNames":
		return one(op.command("listCollections", 1, "filter"))
	}
	return op.writes(coll, db)
}

// others returns the arguments but for some.
func (op *suiteOperation) others(names ...string) bson.D {
	return slices.DeleteFunc(slices.Clone(op.Arguments), func(e bson.E) bool { return slices.Contains(names, e.Key) })
}

func (op *suiteOperation) aggregate(coll string) bson.D {
	var target any = coll
	if coll == "" {
		target = 1
	}
	d := op.command("aggregate", target, "pipeline", "hint", "let", "collation", "allowDiskUse", "comment", "bypassDocumentValidation")
	return append(d, bson.E{Key: "cursor", Value: append(bson.D{}, op.renamed("batchSize", "batchSize")...)})
}

func (op *suiteOperation) countDocuments(coll string) bson.D {
	pipeline := bson.A{bson.D{{Key: "$match", Value: op.argument("filter")}}}
	for _, name := range []string{"skip", "limit"} {
		if v := op.renamed(name, "$"+name); v != nil {
			pipeline = append(pipeline, v)
		}
	}
	count := bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}
	d := bson.D{{Key: "aggregate", Value: coll}, {Key: "pipeline", Value: append(pipeline, bson.D{{Key: "$group", Value: count}})}}
	return append(append(d, op.command("", "", "collation", "hint", "comment")[1:]...), bson.E{Key: "cursor", Value: bson.D{}})
}

func (op *suiteOperation) index(coll string) bson.D {
	switch op.Name {
	case "createIndex":
		index := append(bson.D{{Key: "key", Value: op.argument("keys")}}, op.command("", "", "name", "unique", "sparse", "collation")[1:]...)
		if op.argument("name") == nil {
			index = append(index, bson.E{Key: "name", Value: "made_1"})
		}
		return bson.D{{Key: "createIndexes", Value: coll}, {Key: "indexes", Value: bson.A{index}}}
	case "dropIndex":
		return append(bson.D{{Key: "dropIndexes", Value: coll}}, op.renamed("name", "index")...)
	case "dropIndexes":
		return bson.D{{Key: "dropIndexes", Value: coll}, {Key: "index", Value: "*"}}
	}
	return op.command("listIndexes", coll)
}

// writes returns what a client sends for an operation that writes.
func (op *suiteOperation) writes(coll, db string) []bson.D {
	general := op.command("", "", "ordered", "bypassDocumentValidation", "let", "comment")[1:]
	list := func(command, field string, what ...any) []bson.D {
		return []bson.D{append(bson.D{{Key: command, Value: coll}, {Key: field, Value: bson.A(what)}}, general...)}
	}
	switch op.Name {
	case "insertOne":
		return list("insert", "documents", op.argument("document"))
	case "insertMany":
		documents, _ := op.argument("documents").(bson.A)
		return list("insert", "documents", documents...)
	case "updateOne", "updateMany", "replaceOne":
		return list("update", "updates", op.update())
	case "deleteOne", "deleteMany":
		return list("delete", "deletes", op.deletion())
	case "findOneAndUpdate", "findOneAndReplace", "findOneAndDelete":
		return []bson.D{append(op.findAndModify(coll), op.command("", "", "let", "comment", "bypassDocumentValidation")[1:]...)}
	case "bulkWrite":
		return op.bulkWrite(coll, db)
	case "clientBulkWrite":
		if models, _ := op.argument("models").(bson.A); len(models) == 0 {
			return []bson.D{} // no client sends it
		}
		return []bson.D{op.clientBulkWrite(db)}
	}
	return nil
}

func (op *suiteOperation) update() bson.D {
	d := op.renamed("filter", "q")
	d = append(append(d, op.renamed("update", "u")...), op.renamed("replacement", "u")...)
	d = append(d, op.command("", "", "upsert", "arrayFilters", "hint", "collation", "sort")[1:]...)
	return append(d, bson.E{Key: "multi", Value: op.Name == "updateMany"})
}

func (op *suiteOperation) deletion() bson.D {
	limit := 1
	if op.Name == "deleteMany" {
		limit = 0
	}
	return append(append(op.renamed("filter", "q"), bson.E{Key: "limit", Value: limit}), op.command("", "", "hint", "collation")[1:]...)
}

func (op *suiteOperation) findAndModify(coll string) bson.D {
	d := append(bson.D{{Key: "findAndModify", Value: coll}}, op.renamed("filter", "query")...)
	d = append(append(d, op.renamed("update", "update")...), op.renamed("replacement", "update")...)
	d = append(append(d, op.renamed("projection", "fields")...), op.command("", "", "sort", "upsert", "arrayFilters", "hint", "collation")[1:]...)
	if op.Name == "findOneAndDelete" {
		return append(d, bson.E{Key: "remove", Value: true})
	}
	return append(d, bson.E{Key: "new", Value: op.argument("returnDocument") == "After"})
}

// bulkWrite returns a command for each of its writes.
func (op *suiteOperation) bulkWrite(coll, db string) []bson.D {
	var list []bson.D
	requests, _ := op.argument("requests").(bson.A)
	for _, request := range requests {
		for _, e := range request.(bson.D) {
			arguments, _ := e.Value.(bson.D)
			inner := suiteOperation{Name: e.Key, Arguments: append(slices.Clone(arguments), op.command("", "", "let", "comment", "bypassDocumentValidation")[1:]...)}
			list = append(list, inner.writes(coll, db)...)
		}
	}
	return list
}

func (op *suiteOperation) clientBulkWrite(db string) bson.D {
	var ops, namespaces bson.A
	models, _ := op.argument("models").(bson.A)
	for _, model := range models {
		for _, e := range model.(bson.D) {
			inner := suiteOperation{Name: e.Key, Arguments: e.Value.(bson.D)}
			full, _ := inner.argument("namespace").(string)
			_, coll, _ := strings.Cut(full, ".")
			at := slices.IndexFunc(namespaces, func(n any) bool { return n.(bson.D)[0].Value == db+"."+coll })
			if at < 0 {
				at = len(namespaces)
				namespaces = append(namespaces, bson.D{{Key: "ns", Value: db + "." + coll}})
			}
			ops = append(ops, inner.bulkOp(at))
		}
	}
	d := bson.D{{Key: "bulkWrite", Value: 1}, {Key: "ops", Value: ops}, {Key: "nsInfo", Value: namespaces}}
	if op.argument("verboseResults") != true {
		d = append(d, bson.E{Key: "errorsOnly", Value: true})
	}
	return append(d, op.command("", "", "ordered", "let", "comment", "bypassDocumentValidation")[1:]...)
}

func (op *suiteOperation) bulkOp(namespace int) bson.D {
	common := op.command("", "", "filter", "upsert", "arrayFilters", "hint", "collation", "sort")[1:]
	switch op.Name {
	case "insertOne":
		return append(bson.D{{Key: "insert", Value: namespace}}, op.renamed("document", "document")...)
	case "deleteOne", "deleteMany":
		return append(append(bson.D{{Key: "delete", Value: namespace}}, common...), bson.E{Key: "multi", Value: op.Name == "deleteMany"})
	}
	d := append(bson.D{{Key: "update", Value: namespace}}, common...)
	d = append(append(d, op.renamed("update", "updateMods")...), op.renamed("replacement", "updateMods")...)
	return append(d, bson.E{Key: "multi", Value: op.Name == "updateMany"})
}
