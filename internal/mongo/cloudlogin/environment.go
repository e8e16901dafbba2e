package cloudlogin

import (
	"context"
	"os"
)

// fromEnvironment returns the keys in the environment variables, which are read anew each time: a part of the application may renew
// them. Source: Driver Authentication, "Environment variables".
func fromEnvironment(context.Context) (Key, error) {
	var key Key
	key.ID, key.Secret = os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	key.SessionToken = os.Getenv("AWS_SESSION_TOKEN")
	if key.ID == "" && key.Secret == "" {
		return key, errAbsent
	}
	return key, nil
}
