package admin

import "github.com/holdfast-db/holdfast/mongotest/internal/call"

// https://www.mongodb.com/docs/manual/reference/command/ping/

func cmdPing(*call.Call) error { return nil }
