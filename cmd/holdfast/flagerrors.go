package main

import (
	"fmt"
	"strings"
)

// asFlag turns an error of mongotest, which names one of its options, into an error that names the flag of the
// option.
func (c *mockCommand) asFlag(err error) error {
	option, why, _ := strings.Cut(strings.TrimPrefix(err.Error(), "mongotest: "), ": ")
	option, _, _ = strings.Cut(option, "(") // some errors have the option's value
	flag, known := map[string]string{
		"StartParameters": "--setParameter",
		"Version":         "--server-version",
		"Compressors":     "--networkMessageCompressors",
		"Users":           "--user",
		"SetName":         "--set",
	}[option]
	switch {
	case !known:
		return err
	case option == "SetName" && c.Mongod.ReplSet != "":
		flag = "--replSet"
	}
	return fmt.Errorf("%s: %s", flag, why)
}
