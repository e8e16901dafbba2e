package differential

import (
	"regexp"
	"slices"
	"testing"
)

// A collection that is not dropped before a sequence would carry what the sequence before left in it, and what a real server that
// ended has lost of it.
func TestASequenceBeginsWithoutItsCollections(t *testing.T) {
	makers := []string{"create", "createIndexes", "findAndModify", "insert", "update"}
	refused := regexp.MustCompile(`^($|\.|\$|system\.)`) // names that no collection can have
	g := readGrammar(t)
	for n := range uint64(300) {
		s := newSource(g, *seed, n)
		for _, statement := range s.sequence(kindOf(n)) {
			command, err := parseCommand(statement.text, "database")
			if err != nil {
				t.Fatal(err)
			}
			name, isText := command[0].Value.(string)
			if isText && slices.Contains(makers, command[0].Key) && !slices.Contains(collections, name) && !refused.MatchString(name) {
				t.Fatalf("%s: the collection %q is not dropped", statement.text, name)
			}
		}
	}
}
