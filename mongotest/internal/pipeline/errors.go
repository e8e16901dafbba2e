package pipeline

import (
	"errors"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// because puts what failed before the text of an error.
func because(what string, err error) error {
	var refused *mongoerr.Error
	if errors.As(err, &refused) {
		return mongoerr.Errorf(refused.Code, "%s :: caused by :: %s", what, refused.Message)
	}
	return err
}

func unsupported(what string) error {
	return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: %s is not supported", what)
}
