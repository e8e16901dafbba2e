package main

import (
	"fmt"
	"strings"
)

// asFlag returns an error of mongotest, which names one of its options, as one that names the flag from which the option came.
func (c *mockCommand) asFlag(err error) error {
	option, why, _ := strings.Cut(strings.TrimPrefix(err.Error(), "mongotest: "), ": ")
	option, _, _ = strings.Cut(option, "(") // some have the option's value
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
