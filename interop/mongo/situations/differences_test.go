package situations

import "regexp"

// parts are those of an outcome.
var parts = []string{"result", "error", "text", "sent", "took", "Connect", "Connect's text", "Ping", "Ping's text"}

// difference is a part of a situation that is not the same with both imports.
type difference struct{ name, part, official, ours string }

// expected is a row of the table of differences. The patterns that are not nil must match.
type expected struct {
	why                        string
	name, part, official, ours *regexp.Regexp
}

func (d difference) matches(e expected) bool {
	for _, m := range []struct {
		pattern *regexp.Regexp
		text    string
	}{{e.name, d.name}, {e.part, d.part}, {e.official, d.official}, {e.ours, d.ours}} {
		if m.pattern != nil && !m.pattern.MatchString(m.text) {
			return false
		}
	}
	return true
}

func is(pattern string) *regexp.Regexp { return regexp.MustCompile(pattern) }

// differences are all that differ on purpose. The first row that matches explains a difference. docs/MIGRATION.md has each reason
// word for word, see TestTheGuideHasEachReason.
var differences = []expected{
	{
		why:  "`bypassDocumentValidation: false` is sent if it is set",
		part: is("^sent$"), ours: is(`"bypassDocumentValidation":false`),
	},
	{why: "an empty name of a collection is refused before anything is sent", name: is("the collection's name: an empty text")},
	{why: "a document as a pipeline is refused, unless it is empty", name: is(`(Watch|Aggregate|CreateView), argument \d: (a (document|raw|slice of bytes)|an? (nil )?pointer to a (document|struct)|a nil pointer)`)},
	{why: "an array is a pipeline too, not only a slice", name: is(`Watch, argument \d: an array of documents`)},
	{why: "encryption is not supported: its options are refused", name: is("SetEncryptedFields")},
	{why: "a write with `w: 0` in an explicit session is an error, before anything is sent (Sessions specification)", name: is("w: 0 in an explicit session")},
	{why: "a nil context is `context.Background()`", name: is("a nil context")},
	{why: "a write concern that was not met is a `WriteException`, and the result is there", name: is("a write concern w: 2")},
	{
		why:  "a network error has the label RetryableWriteError, also of a write that is not retryable",
		part: is("^error$"), ours: is("label RetryableWriteError"),
	},
	{why: "the errors of SearchIndexView are `CommandError`s, and match the sentinels", name: is("^SearchIndexView"), part: is("^error$")},
	{why: "an error of an options builder ends the call", name: is("a builder with an error")},
	{why: "a number that is out of range is refused before anything is sent", name: is("int32 -2|SetChunkSizeBytes int32 0|Duration -1s|CursorType 99|odd settings")},
	{why: "a timeout or a cancelled context during Watch has the same error as during other methods", name: is("Watch, a server that is silent"), part: is("^error$")},
	{why: "a list runs on the primary, and sends no read preference", name: is("ListCollection.*, a read preference")},
	{why: "an empty command is refused before it is sent", name: is("^Database.RunCommand"), ours: is("^$|^nil$|the command is empty|^error$")},
	{why: "a limit of 0, which is none, is not sent", name: is("SetLimit int(64|32) 0"), part: is("^sent$")},
	{why: "Decode before the first document is `io.EOF`, whatever the target is", name: is("Decode to nil|^a stream, before an event, Decode")},
	{why: "`Cursor.All` reads on after an empty first batch", name: is("SetBatchSize int32 0")},
	{why: "a nil read preference of RunCommand is the default", name: is("RunCommand(Cursor)?, SetReadPreference a nil")},
	{why: "a nil pointer is `ErrNilDocument` for every argument that is a document", ours: is("ErrNilDocument|document is nil")},
	{why: "a sentinel is returned as it is, or wrapped with the name of the argument: use `errors.Is`", ours: is("is Err(NotSlice|EmptySlice|NilValue)")},
	{why: "an argument that cannot be encoded is always a `MarshalError`", part: is("^error$"), ours: is("MarshalError")},
	{why: "after an error of BulkWrite the result says what was acknowledged", name: is("BulkWrite"), part: is("^result$")},
	{why: "after an error of InsertMany the result has the _ids that were inserted", name: is(`Collection\.InsertMany`), part: is("^result$")},
	{why: "`Cursor.All` returns the documents that were not read yet", name: is("^a cursor.*Next.*All"), part: is("^result$"), ours: is(`"All: [012]none"`)},
	{why: "the error given to `NewCursorFromDocuments` is the error of `All` and `Decode`", name: is("^a cursor from documents with an error"), part: is("^result$")},
	{why: "an error ends a cursor: `Err` and `All` return it again", name: is("^a cursor with batches.*All with a cancelled context")},
	{why: "options that cannot be right are an error of `Connect`", name: is("^a client, Set(AppName|Auth|ConnectTimeout|LocalThreshold|MaxConnIdleTime|SRV|ServerSelectionTimeout|Zlib|Zstd|HeartbeatInterval)")},
	{why: "the errors of `Connect` begin with `mongo: `", part: is("^Connect's text$")},
	{why: "a value that was decoded partly may be otherwise after an error", name: is("^Decode array")},
	{why: "the first `TryNext` of a change stream asks the server", name: is(`^a stream, [^,]*(, insert \[[\d ]+\])?, TryNext`)},
	{
		why: "a timeout or a cancelled context of `Next` has the same error as of other methods, and the next call goes on with the change stream",
		name: is("^a stream, .*(for 100 ms|until it is cancelled|with a cancelled context|deadline in the past|MaxTimeMSExpired|silence)|" +
			"^a stream, .*[a-z], Next, Err, ID, ResumeToken, Close|^a stream, a filter that keeps .*Next, Next, Err"),
	},
	{why: "after the error of a step-down a change stream resumes as soon as a check finds a primary", name: is("^a stream, .*step-down")},
	{
		why:  "after an error with the labels SystemOverloadedError and RetryableError the next call goes on with the change stream",
		name: is("^a stream, .*(getMore|aggregate) .*with overload( that is resumable)?,"), official: is("462|overload|^\\{"), ours: is("^\\[|none|^\\{"),
	},
	{why: "a change stream that cannot resume tries about twice a second; the official one tries without a pause", name: is("^a stream, .*aggregate (always|fails 3 times).*(lost|a resumable error)")},
	{why: "`RemainingBatchLength` counts the events of the first batch before the first `Next` too", name: is("^a stream, Set.*, ResumeToken, RemainingBatchLength, Next"), part: is("^result$")},
	{why: "`Next` after `Close` returns false, also if the batch has more events", name: is("^a stream, .*Next, Close, .*Next"), official: is("panic")},
	{why: "a reply that has no cursor ends a change stream with an error; the official one resumes again and again", name: is("^a stream, .*answered with (nothing|a cursor that is a number)")},
	{why: "an event without a resume token is `ErrMissingResumeToken`, also if it is the last one of its batch", name: is("^a stream, .*answered with an? (event without a token|empty event|event whose token is (a number|null))")},
	{why: "the resume token is that of the event, if the reply has no token of its own", name: is("^a stream, .*answered with (an event|the fragments)")},
	{why: "`MaxAwaitTime` that is longer than the time of `Next` is shortened to it", name: is("^a stream, SetMaxAwaitTime time.Duration 1m0s")},
	{why: "an await time is rounded up to milliseconds", name: is("^a stream, SetMaxAwaitTime time.Duration 1.5ms"), part: is("^sent$")},
	{why: "`Abort` deletes the chunks that its stream has sent", name: is("^GridFSBucket"), part: is("^sent$"), ours: is(`"_id":\{"\$in"`)},
	{
		why:  "`Delete` leaves the chunks of a file whose document could not be deleted",
		name: is("^GridFSBucket.Delete"), part: is("^sent$"), official: is(`"delete":"fs.chunks"`), ours: is(`"delete":"fs.files"[^\n]*$`),
	},
	{
		why:  "a download's deadline is sent with the find of the chunks too (Client-Side Operations Timeout specification)",
		name: is("^GridFSBucket.*Download.*(deadline|timeout)"), part: is("^sent$"), ours: is("maxTimeMS"),
	},
	{why: "a file's `_id` and metadata that cannot be encoded are refused before anything is sent", name: is("^GridFSBucket"), part: is("^sent$"), ours: is("^$")},
	{why: "the error of a download is that of the find", name: is("^GridFSBucket"), part: is("^error$"), official: is("^wrapped ")},
	{why: "with `w: 0` nobody knows whether the file is there: `Delete` and `Rename` return no error", name: is("^GridFSBucket.*w: 0"), part: is("^(error|text)$"), ours: is("^none|^\\n$")},
	{
		why:  "after several attempts the text has their history",
		part: is("text$"), ours: is("attempts?: \\["),
	},
	{why: "the text of a network error says how far the command came", part: is("text$"), ours: is("failed \\(in flight\\)|AuthenticationFailed")},
	{why: "the text of an error before anything was sent says why nothing was sent", part: is("text$|^result$"), ours: is("^no connection to|: no connection to|^client is disconnected|selection error:")},
	{why: "the text of an error of the client names the field and the rule", part: is("text$"), official: is("^[^(]")},
}
