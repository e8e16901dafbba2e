package cluster

import (
	"net"
	"testing"
	"time"
)

func TestTheDefaultsOfAConfiguration(t *testing.T) {
	var cfg Config
	cfg.setDefaults()
	if cfg.ConnectTimeout != 30*time.Second || cfg.HeartbeatInterval != 10*time.Second ||
		cfg.ServerSelectionTimeout != 30*time.Second || cfg.MaxConnecting != 2 || cfg.MaxPoolSize != 0 ||
		cfg.LocalThreshold != 0 || cfg.MaxConnIdleTime != 0 {
		t.Errorf("%+v", cfg)
	}
	given := Config{
		Dialer: network{}, ConnectTimeout: 1, HeartbeatInterval: 2, ServerSelectionTimeout: 3, MaxConnecting: 4,
	}
	given.setDefaults()
	if given.ConnectTimeout != 1 || given.HeartbeatInterval != 2 || given.ServerSelectionTimeout != 3 || given.MaxConnecting != 4 {
		t.Errorf("what was given became %+v", given)
	}
	if _, same := given.Dialer.(network); !same {
		t.Errorf("the dialer became a %T", given.Dialer)
	}
}

// A silent connection is found broken after 5 s and five probes a second apart.
func TestTheDefaultDialerNoticesABlackHoleAfterTenSeconds(t *testing.T) {
	var cfg Config
	cfg.setDefaults()
	d, ok := cfg.Dialer.(*net.Dialer)
	want := net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5}
	if !ok || d.KeepAliveConfig != want {
		t.Errorf("the dialer is %+v", cfg.Dialer)
	}
}
