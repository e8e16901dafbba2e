package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
)

func TestEveryRequestIsRecorded(t *testing.T) {
	s := scriptedRows()
	r := newRequest("POST", "/query/service?a=%20b", rowsBody)
	r.Header.Set("User-Agent", "agent")
	sendTo(s, 1, n1ql, r)
	send(s, mgmt, "GET", "/pools/default/b/a%2Fb", "")
	refused := newRequest("GET", "/pools/default", "")
	refused.Header.Del("Authorization")
	sendTo(s, 0, mgmt, refused)

	all := s.Requests(When{})
	if len(all) != 3 {
		t.Fatalf("%d records", len(all))
	}
	q := all[0]
	if q.Node != 1 || q.Service != n1ql || q.Method != http.MethodPost || q.Target != "/query/service?a=%20b" || q.Path != "/query/service" ||
		!bytes.Equal(q.Body, []byte(rowsBody)) || q.Header.Get("User-Agent") != "agent" || q.Host != "example.com" || q.Statement != "rows" {
		t.Errorf("the request is %+v", q.Request)
	}
	if !q.Done || q.Status != 200 || q.Rows != 3 || q.Bytes == 0 || q.Left {
		t.Errorf("the record is %+v", q)
	}
	if all[1].Path != "/pools/default/b/a%2Fb" || all[1].Status != 404 || all[2].Status != 401 {
		t.Errorf("records %+v", all[1:])
	}
	if got := s.Requests(When{Path: "/pools/*"}); len(got) != 2 {
		t.Errorf("%d records of a path", len(got))
	}
	s.ForgetRequests()
	if got := s.Requests(When{}); len(got) != 0 {
		t.Errorf("%d records remain", len(got))
	}
}

func TestARequestIsRecordedBeforeItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scriptedRows()
		release := make(chan struct{})
		s.Inject(When{}, 1, 0, Fault{Before: func() { <-release }})
		done := make(chan struct{})
		go func() {
			defer close(done)
			send(s, n1ql, "POST", "/query/service", rowsBody)
		}()
		synctest.Wait()
		if all := s.Requests(When{}); len(all) != 1 || all[0].Done || all[0].Status != 0 {
			t.Errorf("records %+v", all)
		}
		close(release)
		<-done
		if all := s.Requests(When{}); len(all) != 1 || !all[0].Done {
			t.Errorf("records %+v", all)
		}
	})
}

func TestOnlyTheLastRecordsAreKept(t *testing.T) {
	var l log
	for i := range maxRecords + 1 {
		l.add(&Request{Target: fmt.Sprint(i)})
	}
	if n := len(l.records); n != maxRecords/2+1 || l.records[n-1].Target != fmt.Sprint(maxRecords) {
		t.Errorf("%d records", n)
	}
}

func TestTheTargetNamesTheIndexAndTheBucket(t *testing.T) {
	for _, c := range []struct {
		search        bool
		path          string
		index, bucket string
	}{
		{true, "/api/index/i/query", "i", ""},
		{true, "/api/index/a%2Fb", "a/b", ""},
		{true, "/api/stats/index/i", "i", ""},
		{true, "/api/bucket/b/scope/s/index/i/query", "b.s.i", "b"},
		{true, "/api/bucket/b/scope/s/index", "", "b"},
		{true, "/api/index", "", ""},
		{true, "/api/index/%zz", "", ""},
		{false, "/b/_design/d/_view/v", "d/v", "b"},
		{false, "/b+uuid/_design/d", "", "b"},
		{false, "/", "", ""},
	} {
		r := &Request{Service: capi, Path: c.path}
		if c.search {
			r.Service = fts
		}
		if r.readTarget(); r.Index != c.index || r.Bucket != c.bucket {
			t.Errorf("%s: index %q, bucket %q", c.path, r.Index, r.Bucket)
		}
	}
}

func TestTheRecordHasTheHeadersOfTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scriptedRows()
		client := serve(t, s, n1ql)
		for _, length := range []int64{int64(len(rowsBody)), -1} {
			r := clientRequest(t.Context(), "POST", "/query/service", rowsBody)
			r.ContentLength = length
			resp, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
		}
		all := s.Requests(When{})
		if len(all) != 2 || all[0].Header.Get("Content-Length") != fmt.Sprint(len(rowsBody)) || all[1].Header.Get("Transfer-Encoding") != "chunked" {
			t.Fatalf("records %+v", all)
		}
		if !bytes.Equal(all[0].Body, all[1].Body) {
			t.Errorf("bodies %q and %q", all[0].Body, all[1].Body)
		}
	})
}
