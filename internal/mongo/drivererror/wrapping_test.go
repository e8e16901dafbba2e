package drivererror

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
)

// If this fails, the official package makes its CommandErrors in another way.
func TestTheTextOfACommandErrorIsThatOfWhatItWraps(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv("MONGODB_LOG_ALL", "debug")
	t.Setenv("MONGODB_LOG_PATH", log)
	of := official.CommandError{Code: 7, Message: "m", Labels: []string{"l"}, Name: "N", Raw: bson.Raw{5, 0, 0, 0, 0}}
	cause := errors.New("the whole text")
	e := Wrap(&of, cause)
	if e.Error() != "the whole text" {
		t.Errorf("the text is %q", e.Error())
	}
	if e.Code != 7 || e.Message != "m" || e.Name != "N" || !e.HasErrorLabel("l") || len(e.Raw) != 5 || !errors.Is(e, cause) {
		t.Errorf("%+v", e)
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("a file for a log was opened")
	}
}
