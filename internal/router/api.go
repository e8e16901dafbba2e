package router

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const (
	codeAPIVersionError = 322
	codeAPIWithoutIt    = 4886600 // of a server, which has no name for it
)

// checkAPI refuses a version of the stable API that there is not, and what is said of a version without naming it. The members do so for the
// commands that go to them.
func (c *command) checkAPI() *refusal {
	version := field(c.Body, "apiVersion")
	declared := version.Type != 0 && version.Type != bson.TypeNull
	for _, name := range []string{"apiStrict", "apiDeprecationErrors"} {
		if refused := checkQualified(name, field(c.Body, name), declared); refused != nil {
			return refused
		}
	}
	switch {
	case !declared:
		return nil
	case version.Type != bson.TypeString:
		return typeMismatch("apiVersion has the BSON type %v, it must be a string", version.Type)
	case string(version.Text()) != "1":
		return &refusal{code: codeAPIVersionError, name: "APIVersionError", text: fmt.Sprintf("the API version is %q, it must be \"1\"", version.Text())}
	}
	return nil
}

// checkQualified refuses a field that needs an apiVersion beside it.
func checkQualified(name string, given wire.Element, declared bool) *refusal {
	switch {
	case given.Type == 0 || given.Type == bson.TypeNull:
		return nil
	case given.Type != bson.TypeBoolean:
		return typeMismatch("%s has the BSON type %v, it must be a boolean", name, given.Type)
	case !declared:
		return &refusal{code: codeAPIWithoutIt, name: fmt.Sprintf("Location%d", codeAPIWithoutIt), text: name + " needs an apiVersion beside it"}
	}
	return nil
}
