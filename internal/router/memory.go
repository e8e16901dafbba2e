package router

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
)

// memory bounds the messages of clients, and the replies to them, that are in the router at the same time. Replies have a part of their own:
// messages wait for connections to members, and these for replies, so replies must not wait for messages.
type memory struct {
	large     budget // of messages over mediumMessage: half of all
	medium    budget // of smaller ones, which do not wait for large ones: a quarter, but for what strangers have
	strangers budget // of those of strangers, for whom no user waits
	replies   budget // a quarter
}

// budget is a part of the memory.
type budget struct {
	free     *semaphore.Weighted
	patience time.Duration       // how long a message or a reply waits for it
	places   *semaphore.Weighted // of those that wait; nil: any number may
}

const (
	// mediumMessage is the size in bytes of the largest message that does not count as a large one.
	mediumMessage = 64 << 10
	// LeastMemory has room for the largest message, which is there twice while it is sent to a member.
	LeastMemory = 4 * maxMessageBytes
	// strangersPart of all memory is that of strangers. Nearly all that they send is below 1 KiB, and needs none.
	strangersPart = 32
	// replyPatience is how long a reply waits, which holds a connection to a member meanwhile.
	replyPatience = 10 * time.Second
)

func newMemory(bytes int64, maxPoolSize uint64, window time.Duration) memory {
	strangers := bytes / strangersPart
	return memory{
		large:     budget{free: semaphore.NewWeighted(bytes / 2), patience: window},
		medium:    budget{free: semaphore.NewWeighted(bytes/4 - strangers), patience: window},
		strangers: budget{free: semaphore.NewWeighted(strangers), patience: window},
		replies:   budget{free: semaphore.NewWeighted(bytes / 4), patience: replyPatience, places: replyPlaces(maxPoolSize)},
	}
}

// replyPlaces are those of replies that wait: a quarter of a pool, for each holds a connection to a member.
func replyPlaces(maxPoolSize uint64) *semaphore.Weighted {
	return semaphore.NewWeighted(int64(max(1, cmp.Or(maxPoolSize, defaultMaxPool)/4)))
}

// errNoMemory ends a message, or a reply, that has waited too long for memory.
var errNoMemory = errors.New("there are too many large messages and replies at the same time")

// reservation is memory that counts. The zero value is none.
type reservation struct {
	of *semaphore.Weighted
	n  int64
}

// forMessage waits until there is memory for a message of a client.
func (m *memory) forMessage(ctx context.Context, length int, stranger bool) (reservation, error) {
	part := &m.large
	switch {
	case stranger:
		part = &m.strangers
	case length <= mediumMessage:
		part = &m.medium
	}
	return part.reserve(ctx, 2*int64(length))
}

// reserve waits until there are n bytes, if not too many wait already. The error is errNoMemory.
func (b *budget) reserve(ctx context.Context, n int64) (reservation, error) {
	if b.free.TryAcquire(n) {
		return reservation{b.free, n}, nil
	}
	if b.places != nil {
		if !b.places.TryAcquire(1) {
			return reservation{}, errNoMemory
		}
		defer b.places.Release(1)
	}
	limited, cancel := context.WithTimeout(ctx, b.patience)
	defer cancel()
	if b.free.Acquire(limited, n) != nil { // if ctx has ended, its owner says so
		return reservation{}, fmt.Errorf("%w: it has waited %v", errNoMemory, b.patience)
	}
	return reservation{b.free, n}, nil
}

// release gives the memory back.
func (r *reservation) release() {
	if r.of != nil {
		r.of.Release(r.n)
		*r = reservation{}
	}
}

// admitReply waits until there is memory for the reply to the command. That of an earlier attempt is given back.
func (f *forwarded) admitReply(ctx context.Context, length int) error {
	f.kept.release()
	kept, err := f.client.router.memory.replies.reserve(ctx, int64(length))
	if err != nil {
		return fmt.Errorf("%w: %w", cluster.ErrNoRoom, err)
	}
	f.kept = kept
	return nil
}
