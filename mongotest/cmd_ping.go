package mongotest

// https://www.mongodb.com/docs/manual/reference/command/ping/

func cmdPing(*call) error { return nil }
