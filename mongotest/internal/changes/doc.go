// Package changes makes change events of the entries of a log: the options of $changeStream, the events, the description of an update,
// and resume tokens.
package changes
