package memnet

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// capacity is how many bytes a stream holds for its reader before a write waits.
const capacity = 4 << 20

// kept is the largest buffer, in bytes, that a stream keeps when everything has been read.
const kept = 1 << 20

// stream is one direction of a connection. Whoever waits does so on its condition, which a synctest bubble counts as a
// durable block; a wait for a mutex it does not.
type stream struct {
	mu     sync.Mutex
	cond   sync.Cond
	onWay  []chunk
	buffer []byte // the bytes that have arrived
	offset int    // how much of buffer has been read

	writing     bool  // a write has begun: its bytes must stay together
	writeClosed bool  // the writer has closed
	readClosed  bool  // the reader has closed
	failure     error // the reader's error after the bytes that have arrived; nil if the connection was not aborted

	readBy, writeBy deadline
	arrival         *time.Timer // for the first chunk on its way
	latest          time.Time   // when the newest chunk arrives
	travelling      int         // bytes on their way

	pending     int64         // bytes written and not processed yet
	unprocessed *atomic.Int64 // the same of the whole network; nil if they are not counted
}

// chunk is bytes on their way.
type chunk struct {
	at   time.Time
	data []byte
}

func newStream() *stream {
	s := &stream{}
	s.cond.L = &s.mu
	return s
}

// write sends bytes that arrive after delay, but not before those written earlier. It returns how many were sent.
func (s *stream) write(b []byte, delay time.Duration) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.writing {
		if err := s.writeErrorLocked(); err != nil {
			return 0, err
		}
		s.cond.Wait()
	}
	s.writing = true
	defer s.endWriteLocked()
	for sent := 0; ; {
		if err := s.writeErrorLocked(); err != nil {
			return sent, err
		}
		room := min(len(b)-sent, capacity-s.heldLocked())
		if room > 0 {
			s.sendLocked(b[sent:sent+room], delay)
			sent += room
		}
		if sent == len(b) {
			return sent, nil
		}
		s.cond.Wait()
	}
}

func (s *stream) endWriteLocked() {
	s.writing = false
	s.cond.Broadcast()
}

// heldLocked returns how many bytes are on their way or unread.
func (s *stream) heldLocked() int { return s.travelling + len(s.buffer) - s.offset }

func (s *stream) writeErrorLocked() error {
	switch {
	case s.writeClosed:
		return net.ErrClosed
	case s.readClosed:
		return syscall.EPIPE
	case s.writeBy.passed():
		return os.ErrDeadlineExceeded
	}
	return nil
}

func (s *stream) sendLocked(b []byte, delay time.Duration) {
	if s.unprocessed != nil {
		s.pending += int64(len(b))
		s.unprocessed.Add(int64(len(b)))
	}
	if delay == 0 && len(s.onWay) == 0 {
		s.arrivedLocked(b)
		s.cond.Broadcast()
		return
	}
	at := time.Now().Add(delay)
	if at.Before(s.latest) {
		at = s.latest
	}
	s.latest = at
	s.onWay = append(s.onWay, chunk{at, append([]byte(nil), b...)})
	s.travelling += len(b)
	s.scheduleLocked()
}

// scheduleLocked arranges that the first chunk on its way arrives in time.
func (s *stream) scheduleLocked() {
	if len(s.onWay) == 0 {
		return
	}
	d := time.Until(s.onWay[0].at)
	if s.arrival == nil {
		s.arrival = time.AfterFunc(d, s.arrive)
		return
	}
	s.arrival.Reset(d)
}

// arrive moves the chunks that are due to the buffer.
func (s *stream) arrive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for len(s.onWay) > 0 && !now.Before(s.onWay[0].at) {
		s.arrivedLocked(s.onWay[0].data)
		s.travelling -= len(s.onWay[0].data)
		s.onWay = s.onWay[1:]
	}
	s.scheduleLocked()
	s.cond.Broadcast()
}

// arrivedLocked appends to the buffer, after moving unread bytes to the front if most of it has been read.
func (s *stream) arrivedLocked(b []byte) {
	if s.offset > 0 && s.offset >= len(s.buffer)/2 {
		unread := copy(s.buffer, s.buffer[s.offset:])
		s.buffer, s.offset = s.buffer[:unread], 0
	}
	s.buffer = append(s.buffer, b...)
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readClosed:
			return 0, net.ErrClosed
		case s.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		case len(s.buffer) > s.offset || len(b) == 0:
			return s.takeLocked(b), nil
		case s.failure != nil:
			return 0, s.failure
		case s.writeClosed && len(s.onWay) == 0:
			return 0, io.EOF
		}
		s.cond.Wait()
	}
}

// openAndSilent reports whether a read would wait.
func (s *stream) openAndSilent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.endedLocked() && len(s.buffer) == s.offset
}

// atEnd reports whether a read would return an error.
func (s *stream) atEnd() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readClosed || s.endedLocked() && len(s.buffer) == s.offset
}

func (s *stream) endedLocked() bool {
	return s.readClosed || s.failure != nil || s.writeClosed && len(s.onWay) == 0
}

// takeLocked copies arrived bytes to b, and wakes a write that waits for room.
func (s *stream) takeLocked(b []byte) int {
	n := copy(b, s.buffer[s.offset:])
	s.offset += n
	if s.writing {
		s.cond.Broadcast()
	}
	if s.offset < len(s.buffer) {
		return n
	}
	s.buffer, s.offset = s.buffer[:0], 0
	if cap(s.buffer) > kept {
		s.buffer = nil
	}
	return n
}

// processed counts n bytes as dealt with. When the reader has closed there are none left to count.
func (s *stream) processed(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processedLocked(n)
}

func (s *stream) processedLocked(n int64) {
	if n = min(n, s.pending); n > 0 {
		s.pending -= n
		s.unprocessed.Add(-n)
	}
}

// closeWriting gives the reader io.EOF after the bytes that were written.
func (s *stream) closeWriting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeClosed = true
	s.writeBy.stop()
	s.cond.Broadcast()
}

// closeReading drops everything that has not been read, and makes writes fail.
func (s *stream) closeReading() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readClosed = true
	s.dropOnWayLocked()
	s.buffer, s.offset = nil, 0
	s.processedLocked(s.pending)
	s.readBy.stop()
	s.cond.Broadcast()
}

// abort drops the bytes that are on their way, and gives the reader err after those that have arrived.
func (s *stream) abort(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
	s.dropOnWayLocked()
	s.cond.Broadcast()
}

func (s *stream) dropOnWayLocked() {
	s.onWay, s.travelling = nil, 0
	if s.arrival != nil {
		s.arrival.Stop()
	}
}

// setDeadline sets readBy or writeBy.
func (s *stream) setDeadline(d *deadline, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.set(t, s.wake)
	s.cond.Broadcast()
}

func (s *stream) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cond.Broadcast()
}
