package call

// From where on others are let poll, see LetOthersPoll.
const (
	// LongMessage is from how many bytes on a request may take long.
	LongMessage = 64 << 10
	// LongCommit is from how many writes on a commit may take long.
	LongCommit = 1000
)

// LetOthersPoll makes Go's scheduler start a thread, which then waits for what clients send. Before a request that takes long this is needed:
// the thread that waited may be the one that has read the request, and for up to 20 ms nobody would see that another client has sent something.
func LetOthersPoll() { go func() {}() }
