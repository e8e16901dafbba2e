package mongotest

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// commonConfig holds the settings that deployments and black pipes have in common.
type commonConfig struct {
	inMemory    bool
	latencyMin  time.Duration
	latencyMax  time.Duration
	seed        int64
	addresses   []string
	setName     string
	transcript  int
	wantVersion string
	version     version.Version
}

func newCommonConfig() commonConfig {
	return commonConfig{setName: "rs0", seed: 1, version: version.Newest}
}

func (c *commonConfig) checkCommon() (err error) {
	if c.wantVersion != "" {
		if c.version, err = version.Parse(c.wantVersion); err != nil {
			return err
		}
	}
	switch {
	case c.setName == "":
		return errors.New("mongotest: SetName: the name is empty")
	case len(c.addresses) > 0 && c.inMemory:
		return errors.New("mongotest: Listen and InMemory exclude each other")
	case c.latencyMin < 0 || c.latencyMax < c.latencyMin:
		return fmt.Errorf("mongotest: Latency(%v, %v): the first must not be negative or above the second", c.latencyMin, c.latencyMax)
	case c.latencyMax > 0 && !c.inMemory:
		return errors.New("mongotest: Latency needs InMemory")
	case c.transcript < 0:
		return fmt.Errorf("mongotest: TranscriptLimit(%d): it must not be negative", c.transcript)
	}
	return nil
}

// network returns the network in memory that the options describe, nil if there is none.
func (c *commonConfig) network() *memnet.Network {
	if !c.inMemory {
		return nil
	}
	return memnet.New(memnet.Config{MinLatency: c.latencyMin, MaxLatency: c.latencyMax, Seed: uint64(c.seed)})
}

// InMemory makes the servers open no socket. Only their [Dialer] reaches them.
func InMemory() CommonOption { return commonOption(func(c *commonConfig) { c.inMemory = true }) }

// Latency sets how long bytes travel on the network in memory, in each direction: a random time from least to most for each
// write. Bytes keep their order. It needs the option InMemory.
func Latency(least, most time.Duration) CommonOption {
	return commonOption(func(c *commonConfig) { c.latencyMin, c.latencyMax = least, most })
}

// Seed sets the seed of the random numbers: of latencies and of the offsets of elections. Without it the seed is 1.
func Seed(seed int64) CommonOption { return commonOption(func(c *commonConfig) { c.seed = seed }) }

// Listen sets the TCP addresses ("host:port") at which the servers listen and by which their hello names them: first the
// members', then the mongos', then the load balancers'. Without it they are free ports of 127.0.0.1.
func Listen(addresses ...string) CommonOption {
	return commonOption(func(c *commonConfig) { c.addresses = addresses })
}

// SetName sets the replica set's name. Without it the name is "rs0".
func SetName(name string) CommonOption {
	return commonOption(func(c *commonConfig) { c.setName = name })
}
