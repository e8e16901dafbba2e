package main

import "errors"

// terminate is the error of --shutdown, which mongod does not have on Windows either: no signal asks a process to end
// there.
func terminate(int) error {
	return errors.New("--shutdown does not work on Windows: use the command shutdown, or end the process")
}
