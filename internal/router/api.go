package router

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const codeAPIVersionError = 322

// checkAPI refuses a version of the stable API that there is not. The members do so for the commands that go to them.
func (c *command) checkAPI() *refusal {
	switch version := field(c.Body, "apiVersion"); {
	case version.Type == 0:
		return nil
	case version.Type != bson.TypeString:
		return typeMismatch("apiVersion has the BSON type %v, it must be a string", version.Type)
	case string(version.Text()) != "1":
		return &refusal{code: codeAPIVersionError, name: "APIVersionError", text: fmt.Sprintf("the API version is %q, it must be \"1\"", version.Text())}
	}
	return nil
}
