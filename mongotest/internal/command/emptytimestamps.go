package command

import (
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/call"
)

// stampTime returns the time that empty timestamps of whole documents become, zero if the command wants them as they are: mongorestore does.
//
// https://www.mongodb.com/docs/manual/reference/command/insert/
func stampTime(x *call.Call) time.Time {
	if x.Arg("bypassEmptyTsReplacement").True() {
		return time.Time{}
	}
	return time.Now()
}
