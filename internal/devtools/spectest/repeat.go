package spectest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// repeated is the environment variable of a process in which tests run for the second time.
const repeated = "HOLDFAST_TESTS_REPEATED"

// Main runs the tests of a package that uses the real server, and returns the exit code. MongoDB's engine is an alpha that ends
// now and then and is started again. So if tests fail and the server ended meanwhile, all run once more, in a new process.
func Main(m interface{ Run() int }) int {
	uri := os.Getenv("HOLDFAST_MONGODB_URI")
	if uri == "" || os.Getenv(repeated) != "" {
		return m.Run()
	}
	before, err := serverProcess(uri)
	code := m.Run()
	if code == 0 || err != nil {
		return code
	}
	if after, err := serverProcess(uri); err != nil || after == before {
		return code
	}
	fmt.Fprintln(os.Stderr, "the real server ended meanwhile: the tests run once more")
	return again()
}

// again runs this process's command line in a new process and returns its exit code.
func again() int {
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), repeated+"=1"), os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
