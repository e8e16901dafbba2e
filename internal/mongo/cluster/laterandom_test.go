package cluster

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
)

// Checkouts of several users, with and without deadlines, some of which leave early, share a pool whose connections sometimes break. Each ends at its
// deadline at the latest, one without a deadline is not forgotten, and afterwards nobody is left in a queue.
func TestNobodyWaitsForEverOrTooLong(t *testing.T) {
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			slow := loginPeer(func(q *question) {
				<-time.After(10 * time.Millisecond)
				loggedIn(q)
			})
			s := bare(t, slow, func(cfg *Config) { cfg.MaxPoolSize = 3 })
			found(t, s, standalone())
			random := rand.New(rand.NewPCG(seed, 0))
			all := []*User{nil}
			for i := range 3 {
				all = append(all, plainUser(t, strconv.Itoa(i)))
			}
			var waiters sync.WaitGroup
			for range 300 {
				user, limit, leaves := all[random.IntN(len(all))], ms(random.IntN(200)), ms(random.IntN(400))
				hold, breaks := ms(random.IntN(12)), random.IntN(20) == 0
				unlimited := random.IntN(4) == 0
				waiters.Go(func() {
					ctx, cancel := context.WithCancel(LateLast(t.Context()))
					defer cancel()
					if !unlimited {
						time.AfterFunc(leaves, cancel)
						limited, cancel := context.WithTimeout(ctx, limit)
						defer cancel()
						ctx = limited
					}
					began := time.Now()
					c, err := s.CheckOut(ctx, user)
					switch took := time.Since(began); {
					case unlimited && (err != nil || took > 4*time.Second):
						t.Errorf("seed %d: one without a deadline waits %v, %v", seed, took, err)
					case !unlimited && took > min(limit, leaves):
						t.Errorf("seed %d: one waits %v, which has %v, and leaves after %v", seed, took, limit, leaves)
					}
					if err != nil {
						return
					}
					if c.share.user != user {
						t.Errorf("seed %d: one gets the connection of another user", seed)
					}
					<-time.After(hold)
					if breaks {
						s.pool.discard(c, event.ReasonError)
						return
					}
					s.CheckIn(c)
				})
				pass(t, ms(random.IntN(3)))
			}
			waiters.Wait()
			pass(t, ms(100)) // connections for those who have left are made nevertheless
			p := &s.pool
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.waiters.length+p.connecting+p.yielding+p.filling+len(p.pending) != 0 || p.total > 3 || int(p.total) != len(p.open) {
				t.Errorf("seed %d: %d wait, %d for new connections; %d yield, %d are pending, %d of %d are open",
					seed, p.waiters.length, p.connecting, p.yielding, len(p.pending), len(p.open), p.total)
			}
			p.shares(func(s *share) {
				if s.waiters.length+s.late.length != 0 || s.waiters.first != nil || s.late.last != nil {
					t.Errorf("seed %d: %d wait of one user, and %d late ones", seed, s.waiters.length, s.late.length)
				}
			})
		})
	}
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
