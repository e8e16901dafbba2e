package mongo_test

import (
	"cmp"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongo"
)

var writeOptionsPage = flag.Bool("write-options-page", false, "write docs/OPTIONS.md")

const optionsPage = "../docs/OPTIONS.md"

// docs/OPTIONS.md is written by this test, with -write-options-page.
func TestTheOptionsPageIsThatOfTheTables(t *testing.T) {
	var page strings.Builder
	page.WriteString(`# Options

Every exported field of the options of the official driver, v2.10.0. A program that sets a field that is refused, or one that a newer
official release has added, gets an error with its name. ` + "`go test ./mongo -run OptionsPage -write-options-page`" + ` writes this page.

| struct | supported | refused |
|---|---|---|
`)
	rows := mongo.SupportedOptions()
	slices.SortFunc(rows, func(a, b mongo.OptionsRow) int { return cmp.Compare(a.Type.String(), b.Type.String()) })
	for _, row := range rows {
		slices.Sort(row.Refused)
		page.WriteString("| " + strings.Join([]string{row.Type.String(), strings.Join(row.Supported, ", "), strings.Join(row.Refused, ", ")}, " | ") + " |\n")
	}
	page.WriteString(`
The fields Internal, and Custom of options.ClientOptions, hold values of the official driver's package ` + "`x/mongo/driver/xoptions`" + `, which
MongoDB's own tools set. These are supported: rawData and addCommandFields, of each call that can have them; collectionUUIDs of
Client.BulkWrite; and authenticateToAnything of the client. Another one is an error with its name.

## Options of the connection string

The names are in lower case; the connection string may write them in any case. The official options have no fields for
sockettimeoutms, waitqueuetimeoutms and wtimeoutms, and the official driver ignores them. They are deprecated: an operation ignores them if
its context has a deadline, or if the client has the option timeoutMS. slaveok=true means readPreference=secondaryPreferred, and
secondaryacceptablelatencyms is localThresholdMS. Both are deprecated, which the log says at level info; each is an error together with a value for
the option that has replaced it. The official driver ignores them. An option that no driver has is ignored, with a message at level info that names it (Connection String
specification, "Keys").

` + "Supported: " + strings.Join(mongo.SupportedURIOptions(), ", ") + `.

| ignored | values | reason, which the log has at level info |
|---|---|---|
`)
	for _, row := range mongo.IgnoredURIOptions() {
		page.WriteString("| " + strings.Join(row[:], " | ") + " |\n")
	}
	if *writeOptionsPage {
		if err := os.WriteFile(optionsPage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text, err := os.ReadFile(optionsPage); err != nil || string(text) != page.String() {
		t.Errorf("%s is not that of the tables: %v", optionsPage, err)
	}
}
