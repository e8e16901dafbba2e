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
	large   *semaphore.Weighted // messages over mediumMessage: half of all
	medium  *semaphore.Weighted // smaller ones, which do not wait for large ones: a quarter
	replies *semaphore.Weighted // a quarter
	waiting *semaphore.Weighted // replies that wait: a quarter of a pool, for each holds a connection to a member
	window  time.Duration       // how long a message waits
}

const (
	// mediumMessage is the size in bytes of the largest message that does not count as a large one.
	mediumMessage = 64 << 10
	// LeastMemory has room for the largest message, which is there twice while it is sent to a member.
	LeastMemory = 4 * maxMessageBytes
	// replyPatience is how long a reply waits, which holds a connection to a member meanwhile.
	replyPatience = 10 * time.Second
)

func newMemory(bytes int64, maxPoolSize uint64, window time.Duration) memory {
	return memory{
		large: semaphore.NewWeighted(bytes / 2), medium: semaphore.NewWeighted(bytes / 4), replies: semaphore.NewWeighted(bytes / 4),
		waiting: semaphore.NewWeighted(int64(max(1, cmp.Or(maxPoolSize, defaultMaxPool)/4))), window: window,
	}
}

// errNoMemory ends a message, or a reply, that has waited too long for memory.
var errNoMemory = errors.New("there are too many large messages and replies at the same time")

// reservation is memory that counts. The zero value is none.
type reservation struct {
	of *semaphore.Weighted
	n  int64
}

// forMessage waits until there is memory for a message of a client.
func (m *memory) forMessage(ctx context.Context, length int) (reservation, error) {
	part := m.large
	if length <= mediumMessage {
		part = m.medium
	}
	return reserve(ctx, part, 2*int64(length), m.window)
}

// forReply waits until there is memory for a reply, if not too many wait already.
func (m *memory) forReply(ctx context.Context, length int) (reservation, error) {
	n := int64(length)
	if m.replies.TryAcquire(n) {
		return reservation{m.replies, n}, nil
	}
	if !m.waiting.TryAcquire(1) {
		return reservation{}, errNoMemory
	}
	defer m.waiting.Release(1)
	return reserve(ctx, m.replies, n, replyPatience)
}

func reserve(ctx context.Context, part *semaphore.Weighted, n int64, patience time.Duration) (reservation, error) {
	if part.TryAcquire(n) {
		return reservation{part, n}, nil
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	switch err := part.Acquire(limited, n); {
	case err == nil:
		return reservation{part, n}, nil
	case ctx.Err() != nil:
		return reservation{}, context.Cause(ctx)
	default:
		return reservation{}, fmt.Errorf("%w: it has waited %v", errNoMemory, patience)
	}
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
	kept, err := f.client.router.memory.forReply(ctx, length)
	if errors.Is(err, errNoMemory) {
		return fmt.Errorf("%w: %w", cluster.ErrNoRoom, err)
	}
	f.kept = kept
	return err
}
