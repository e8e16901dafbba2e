package memd

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"time"
)

func TestFrames(t *testing.T) {
	for _, c := range []struct {
		name string
		kind FrameKind
		data []byte
		head string
	}{
		{"a barrier", FrameBarrier, nil, "00"},
		{"a durability", FrameDurability, []byte{1, 7, 0xd0}, "13"},
		{"the largest kind of one byte", 14, make([]byte, 14), "ee"},
		{"the smallest kind of two bytes", 15, nil, "f0 00"},
		{"the smallest length of two bytes", 0, make([]byte, 15), "0f 00"},
		{"the largest of both", 270, make([]byte, 270), "ff ff ff"},
	} {
		want := append(unhex(t, c.head), c.data...)
		got, err := AppendFrame(nil, c.kind, c.data)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %x, %v, want %x", c.name, got, err, want)
		}
		f, others, err := NextFrame(append(want, "others"...))
		if err != nil || f.Kind != c.kind || !bytes.Equal(f.Data, c.data) || string(others) != "others" {
			t.Errorf("%s: %+v, %q, %v", c.name, f, others, err)
		}
	}
	for _, c := range []Frame{{271, nil}, {0, make([]byte, 271)}} {
		if b, err := AppendFrame(nil, c.Kind, c.Data); b != nil || !errors.Is(err, ErrMalformed) {
			t.Errorf("kind %d, %d bytes: %x, %v", c.Kind, len(c.Data), b, err)
		}
	}
	for _, text := range []string{"", "f0", "0f", "ff 00", "01", "12 01", "0f 00 01"} {
		if f, _, err := NextFrame(unhex(t, text)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
	}
}

func TestFindFrame(t *testing.T) {
	frames := AppendServerDuration(AppendPreserveExpiry(nil), time.Millisecond)
	if data, found, err := FindFrame(frames, FrameServerDuration); len(data) != 2 || !found || err != nil {
		t.Errorf("%x, %t, %v", data, found, err)
	}
	if _, found, err := FindFrame(frames, FrameThrottled); found || err != nil {
		t.Errorf("%t, %v", found, err)
	}
	if _, found, err := FindFrame(append(frames, 0x31), FrameThrottled); found || !errors.Is(err, ErrMalformed) {
		t.Errorf("%t, %v", found, err)
	}
}

func TestTheTimeoutOfADurableWrite(t *testing.T) {
	for _, c := range []struct {
		timeout time.Duration
		hex     string
		want    time.Duration
	}{
		{0, "11 02", 0},
		{2 * time.Second, "13 02 07d0", 2 * time.Second},
		{1500*time.Millisecond + 1, "13 02 05dd", 1501 * time.Millisecond},
		{1, "13 02 0001", time.Millisecond},
		{-time.Second, "13 02 0001", time.Millisecond},
		{65534 * time.Millisecond, "13 02 fffe", 65534 * time.Millisecond},
		{time.Hour, "13 02 fffe", 65534 * time.Millisecond},
	} {
		got := AppendDurability(nil, DurabilityMajorityPersist, c.timeout)
		if !bytes.Equal(got, unhex(t, c.hex)) {
			t.Errorf("%v: %x", c.timeout, got)
		}
		f, _, err := NextFrame(got)
		if err != nil || f.Kind != FrameDurability {
			t.Fatalf("%+v, %v", f, err)
		}
		if level, timeout, err := Durability(f.Data); level != DurabilityMajorityPersist || timeout != c.want || err != nil {
			t.Errorf("%v: %v, %v, %v", c.timeout, level, timeout, err)
		}
	}
	for _, data := range [][]byte{nil, {1, 2}, {1, 2, 3, 4}} {
		if _, _, err := Durability(data); !errors.Is(err, ErrMalformed) {
			t.Errorf("%x: %v", data, err)
		}
	}
}

func TestServerDurations(t *testing.T) {
	for _, d := range []time.Duration{0, time.Microsecond, 100 * time.Microsecond, time.Millisecond, time.Second, 2 * time.Minute} {
		f, others, err := NextFrame(AppendServerDuration(nil, d))
		if err != nil || f.Kind != FrameServerDuration || len(others) != 0 {
			t.Fatalf("%v: %+v, %v", d, f, err)
		}
		got, err := ServerDuration(f.Data)
		if limit := max(float64(d)*0.03, float64(time.Microsecond)); err != nil || math.Abs(float64(got-d)) > limit {
			t.Errorf("%v is read as %v, %v", d, got, err)
		}
	}
	for encoded, want := range map[string]time.Duration{"0000": 0, "0064": 1510 * time.Microsecond, "ffff": 120125042 * time.Microsecond} {
		if got, err := ServerDuration(unhex(t, encoded)); got != want || err != nil {
			t.Errorf("%s is %v, %v, want %v", encoded, got, err, want)
		}
	}
	if f, _, _ := NextFrame(AppendServerDuration(nil, -time.Second)); !bytes.Equal(f.Data, []byte{0, 0}) {
		t.Errorf("a negative duration: %x", f.Data)
	}
	if _, err := ServerDuration([]byte{1}); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(unhex(f, "13 01 07d0 50 02 0064"))
	f.Add(unhex(f, "ff ff ff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) > 0 {
			frame, others, err := NextFrame(b)
			if err != nil {
				if !errors.Is(err, ErrMalformed) {
					t.Error(err)
				}
				return
			}
			if again, err := AppendFrame(nil, frame.Kind, frame.Data); err != nil || !bytes.HasPrefix(b, again) && len(again) != len(b)-len(others) {
				t.Errorf("%x begins with %+v, which is written as %x, %v", b, frame, again, err)
			}
			b = others
		}
	})
}
