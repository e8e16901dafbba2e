package mongotest_test

import (
	"cmp"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/mongotest/internal/pipeline"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	return string(must[[]byte](t)(os.ReadFile(path)))
}

// section returns the README's text below a heading, up to the next of its level.
func section(t *testing.T, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(readFile(t, "README.md"), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("the README has no section %q", heading)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// operatorsIn returns the names of operators in the row of the README's language table that begins with a name.
func operatorsIn(t *testing.T, row string) []string {
	t.Helper()
	for line := range strings.SplitSeq(section(t, "The language"), "\n") {
		if strings.HasPrefix(line, "| "+row+" |") {
			names := regexp.MustCompile(`\$[a-zA-Z]\w*`).FindAllString(line, -1)
			slices.Sort(names)
			return slices.Compact(names)
		}
	}
	t.Fatalf("the README's table of the language has no row %q", row)
	return nil
}

func TestREADMEExampleIsATestOfTheseFiles(t *testing.T) {
	_, example, _ := strings.Cut(readFile(t, "README.md"), "```go\n")
	example, _, _ = strings.Cut(example, "```\n")
	if n := strings.Count(example, "\n"); n > 25 || n < 10 {
		t.Errorf("the example has %d lines, want at most 25", n)
	}
	if !strings.HasPrefix(example, "func Test") || !strings.Contains(readFile(t, "example_test.go"), "\n"+example) {
		t.Errorf("the example is not in example_test.go:\n%s", example)
	}
}

func TestThePackageDocumentationHasTheSameExample(t *testing.T) {
	_, example, _ := strings.Cut(readFile(t, "example_test.go"), "\nfunc Test")
	lines := strings.Split(strings.TrimSuffix("func Test"+example, "\n"), "\n")
	for i, line := range lines {
		if lines[i] = "//"; line != "" {
			lines[i] = "//\t" + line
		}
	}
	if want := strings.Join(lines, "\n"); !strings.Contains(readFile(t, "doc.go"), want) {
		t.Errorf("doc.go does not have\n%s", want)
	}
}

func TestREADMEListsEveryCommandOnce(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Version("8.0"))
	reply := must[map[string]any](t)(commandsOf(rs))
	times := make(map[string]int)
	for line := range strings.SplitSeq(section(t, "Commands"), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || strings.HasPrefix(line, "| command |") || strings.HasPrefix(line, "|---") {
			continue
		}
		for _, name := range strings.FieldsFunc(cells[1], func(r rune) bool { return strings.ContainsRune(" ,()", r) }) {
			times[strings.ToLower(name)]++
		}
	}
	for name := range reply { // names that differ only in case are one command
		if times[strings.ToLower(name)] != 1 {
			t.Errorf("the README lists %s %d times, want once", name, times[strings.ToLower(name)])
		}
		reply[strings.ToLower(name)] = nil
	}
	for name := range times {
		if _, known := reply[name]; !known {
			t.Errorf("the README lists %s, which is no command", name)
		}
	}
}

// commandsOf returns what the server itself says that it has.
func commandsOf(rs *mongotest.Deployment) (map[string]any, error) {
	reply, err := rs.Command(0, "admin", j(`{"listCommands": 1}`))
	if err != nil {
		return nil, err
	}
	elements, err := reply.Lookup("commands").Document().Elements()
	names := make(map[string]any)
	for _, e := range elements {
		names[e.Key()] = nil
	}
	return names, err
}

// filters has a use of every query operator of the manual.
var filters = map[string]string{
	"$eq": `{"a": {"$eq": 1}}`, "$ne": `{"a": {"$ne": 1}}`, "$gt": `{"a": {"$gt": 1}}`, "$gte": `{"a": {"$gte": 1}}`,
	"$lt": `{"a": {"$lt": 1}}`, "$lte": `{"a": {"$lte": 1}}`, "$in": `{"a": {"$in": [1]}}`, "$nin": `{"a": {"$nin": [1]}}`,
	"$and": `{"$and": [{"a": 1}]}`, "$or": `{"$or": [{"a": 1}]}`, "$nor": `{"$nor": [{"a": 1}]}`, "$not": `{"a": {"$not": {"$gt": 1}}}`,
	"$exists": `{"a": {"$exists": true}}`, "$type": `{"a": {"$type": "int"}}`, "$size": `{"a": {"$size": 1}}`,
	"$all": `{"a": {"$all": [1]}}`, "$elemMatch": `{"a": {"$elemMatch": {"$gt": 1}}}`, "$mod": `{"a": {"$mod": [2, 0]}}`,
	"$regex": `{"a": {"$regex": "a"}}`, "$bitsAllSet": `{"a": {"$bitsAllSet": 1}}`, "$bitsAllClear": `{"a": {"$bitsAllClear": 1}}`,
	"$bitsAnySet": `{"a": {"$bitsAnySet": 1}}`, "$bitsAnyClear": `{"a": {"$bitsAnyClear": 1}}`,
	"$jsonSchema": `{"$jsonSchema": {"required": ["a"]}}`, "$expr": `{"$expr": {"$eq": ["$a", 1]}}`,
	"$alwaysTrue": `{"$alwaysTrue": 1}`, "$alwaysFalse": `{"$alwaysFalse": 1}`, "$comment": `{"$comment": "a", "a": 1}`,
	"$text": `{"$text": {"$search": "a"}}`, "$sampleRate": `{"$sampleRate": 0.5}`,
	"$within":    `{"a": {"$within": {"$box": [[0, 0], [1, 1]]}}}`,
	"$geoWithin": `{"a": {"$geoWithin": {"$box": [[0, 0], [1, 1]]}}}`, "$near": `{"a": {"$near": [1, 1]}}`, "$geoNear": `{"a": {"$geoNear": [1, 1]}}`,
	"$geoIntersects": `{"a": {"$geoIntersects": {"$geometry": {"type": "Point", "coordinates": [1, 1]}}}}`,
	"$nearSphere":    `{"a": {"$nearSphere": [1, 1]}}`, "$rand": `{"$rand": {}}`,
}

// updates has a use of every update operator and modifier of the manual.
var updates = map[string]string{
	"$set": `{"$set": {"a": 1}}`, "$unset": `{"$unset": {"a": 1}}`, "$setOnInsert": `{"$setOnInsert": {"a": 1}}`,
	"$inc": `{"$inc": {"n": 1}}`, "$mul": `{"$mul": {"n": 1}}`, "$min": `{"$min": {"n": 1}}`, "$max": `{"$max": {"n": 1}}`,
	"$rename": `{"$rename": {"n": "m"}}`, "$currentDate": `{"$currentDate": {"d": true}}`, "$bit": `{"$bit": {"i": {"and": 1}}}`,
	"$push": `{"$push": {"l": 1}}`, "$each": `{"$push": {"l": {"$each": [1]}}}`, "$slice": `{"$push": {"l": {"$each": [1], "$slice": 1}}}`,
	"$position": `{"$push": {"l": {"$each": [1], "$position": 0}}}`, "$sort": `{"$push": {"l": {"$each": [1], "$sort": 1}}}`,
	"$addToSet": `{"$addToSet": {"l": 1}}`, "$pull": `{"$pull": {"l": 1}}`, "$pullAll": `{"$pullAll": {"l": [1]}}`, "$pop": `{"$pop": {"l": 1}}`,
}

func TestREADMEListsTheOperatorsThatWork(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Version("8.0"))
	must[any](t)(nil, rs.Insert("test.c", j(`{"_id": 1, "n": 1, "i": 1, "l": []}`)))
	for _, key := range []string{`{"a": "2d"}`, `{"s": "text"}`} { // without which the searches are refused
		must[any](t)(nil, rs.CreateIndex("test.c", j("%s", key)))
	}
	works := func(uses map[string]string, command string) []string {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(uses)) {
			if _, err := rs.Command(0, "test", j(command, uses[name])); err == nil {
				names = append(names, name)
			}
		}
		return names
	}
	stages := operatorsIn(t, "stages refused")
	for _, name := range stages {
		use := cmp.Or(map[string]string{"$out": `"d"`, "$merge": `"d"`, "$collStats": `{"count": {}}`}[name], "{}")
		if _, err := rs.Command(0, "test", j(`{"aggregate": "c", "pipeline": [{"%s": %s}], "cursor": {}}`, name, use)); err == nil {
			t.Errorf("the README says that %s is refused, and it is not", name)
		}
	}
	stages = slices.DeleteFunc(pipeline.Names(), func(name string) bool { return slices.Contains(stages, name) })
	for row, want := range map[string][]string{
		"filter": works(filters, `{"find": "c", "filter": %s}`),
		"update": works(updates, `{"update": "c", "updates": [{"q": {"_id": 1}, "u": %s}]}`),
		"stages": stages,
	} {
		if got := operatorsIn(t, row); !slices.Equal(got, want) {
			t.Errorf("the README's row %q has\n%v\nwhat works is\n%v", row, got, want)
		}
	}
}
