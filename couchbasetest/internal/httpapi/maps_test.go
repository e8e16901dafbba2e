package httpapi

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// readSoFar has what has come of a stream.
type readSoFar struct{ text chan string }

// readAll reads a stream until it ends.
func readAll(r io.Reader) *readSoFar {
	s := &readSoFar{make(chan string, 100)}
	go func() {
		defer close(s.text)
		b := make([]byte, 1<<16)
		for {
			n, err := r.Read(b)
			if n > 0 {
				s.text <- string(b[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	return s
}

// now returns what came until nothing moves any more, and whether the stream has ended.
func (s *readSoFar) now() (text string, ended bool) {
	synctest.Wait()
	for {
		select {
		case more, open := <-s.text:
			if !open {
				return text, true
			}
			text += more
		default:
			return text, false
		}
	}
}

func TestAStreamSendsEachNewerMap(t *testing.T) {
	for _, path := range []string{"/pools/default/bs/default", "/pools/default/nodeServicesStreaming", "/pools/default/bucketsStreaming/default", "/poolsStreaming/default"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			s := New(f)
			client := serve(t, s, mgmt)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			resp, err := client.Do(clientRequest(ctx, "GET", path, ""))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			stream := readAll(resp.Body)
			for _, rev := range []string{`"rev":2`, `"rev":3`, `"rev":4`} {
				text, ended := stream.now()
				if strings.HasSuffix(path, "Streaming/default") {
					rev = `"hostname":"node0:8091"` // a description has no revision
				}
				if ended || strings.Count(text, "\n\n\n\n") != 1 || !strings.Contains(text, rev) {
					t.Fatalf("the stream has %q, ended %v; want %s", text, ended, rev)
				}
				f.newMap()
			}
			cancel()
			synctest.Wait()
			all := s.Requests(When{Services: nil})
			if len(all) != 1 || !all[0].Left || !all[0].Done {
				t.Errorf("the record of the request is %+v", all)
			}
		})
	}
}

func TestAStreamEndsWithItsBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		client := serve(t, New(f), mgmt)
		resp, err := client.Do(clientRequest(t.Context(), "GET", "/pools/default/bs/default", ""))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		stream := readAll(resp.Body)
		if _, ended := stream.now(); ended {
			t.Fatal("the stream has ended")
		}
		if err := f.DropBucket("default"); err != nil {
			t.Fatal(err)
		}
		if _, ended := stream.now(); !ended {
			t.Error("the stream of a dropped bucket goes on")
		}
	})
}

func TestAStreamIsCutAfterMaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s := New(f)
		s.Inject(When{Path: "/pools/default/bs/*"}, 1, 0, Fault{Cut: CutRows, After: 2})
		client := serve(t, s, mgmt)
		resp, err := client.Do(clientRequest(t.Context(), "GET", "/pools/default/bs/default", ""))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		time.AfterFunc(time.Second, f.newMap)
		text, err := io.ReadAll(resp.Body)
		if err == nil || strings.Count(string(text), "\n\n\n\n") != 2 {
			t.Errorf("%q, error %v; want two maps and an error", text, err)
		}
	})
}
