package dropin

// allowed has the names that may be missing or different, with the reason.
var allowed = map[string]string{
	"BatchCursorFromCursor": "its result is a type of the official driver's core, which only that driver can make",
}
