package mongo

import "fmt"

// unsupported returns the error of a method of the official API that Holdfast does not have yet.
func unsupported(name string) error {
	return fmt.Errorf("mongo: %s is not supported by Holdfast", name)
}
