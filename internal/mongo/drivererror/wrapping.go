package drivererror

import (
	"sync"

	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/xoptions"
)

// Wrap returns e with another Wrapped, whose text is then the whole text of the error. The text of a CommandError that a program
// makes is always longer than that of an official one that wraps something.
func Wrap(e *official.CommandError, wrapped error) official.CommandError {
	w := wrapper()
	w.Code, w.Message, w.Labels, w.Name, w.Raw, w.Wrapped = e.Code, e.Message, e.Labels, e.Name, e.Raw, wrapped
	return w
}

// wrapper returns a CommandError with the field that says so. The field is not exported: only the official package sets it, where it
// makes a CommandError of a driver.Error. The one here comes from a client without a network, and Connect returns it at once.
var wrapper = sync.OnceValue(func() official.CommandError {
	o := options.Client().SetLoggerOptions(options.Logger().SetSink(noLog{}))
	err := xoptions.SetInternalClientOptions(o, "deployment", noDeployment{})
	if err == nil {
		_, err = official.Connect(o)
	}
	e, _ := err.(official.CommandError) //nolint:errorlint // a test looks whether it is one
	return e
})

// noDeployment is a deployment that cannot be connected.
type noDeployment struct{ driver.Deployment }

func (noDeployment) Connect() error { return driver.Error{} }

// noLog is where nothing is logged, so that the environment variable MONGODB_LOG_PATH opens no file.
type noLog struct{}

func (noLog) Info(int, string, ...any)    {}
func (noLog) Error(error, string, ...any) {}
