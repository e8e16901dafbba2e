package command

import (
	"errors"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// isNoStage reports whether an error says that an element of a pipeline is no stage.
func isNoStage(err error) bool {
	var e *mongoerr.Error
	return errors.As(err, &e) && (e.Code == mongoerr.NotOneStage || e.Code == mongoerr.UnknownStage)
}
