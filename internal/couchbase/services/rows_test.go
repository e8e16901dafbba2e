package services

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/retry"
)

// readAll reads an answer with a rowReader.
func readAll(from io.Reader) (rows []string, m *meta, err error) {
	r := rowReader{in: jsonReader{from: from}, name: "results"}
	for {
		row, err := r.next()
		if isEnd(err) {
			return rows, &r.meta, nil
		}
		if err != nil {
			return rows, &r.meta, err
		}
		rows = append(rows, string(row))
	}
}

func TestRowsAreReadInWhateverOrderTheFieldsCome(t *testing.T) {
	cases := []struct{ name, answer, rows, meta string }{
		{"an empty object", ` { } `, "", "{}"},
		{"no rows", `{"results":[]}`, "", "{}"},
		{"null stands for no rows", `{"results":null,"a":1}`, "", `{"a":1}`},
		{"no field with rows", `{"a":1}`, "", `{"a":1}`},
		{"one row", `{"results":[{"a":[1,"]"]}]}`, `{"a":[1,"]"]}`, "{}"},
		{"rows of all kinds", `{"results":[1,-2.5e3,"s",true,false,null,[],{},[[]],"\"\\"]}`, `1 -2.5e3 "s" true false null [] {} [[]] "\"\\"`, "{}"},
		{"white space between all", " {\n \"results\" : [ 1 ,\t2 ] , \"a\" : { } }\r\n", "1 2", `{"a":{ }}`},
		{"fields before the rows", `{"requestID":"x","signature":{"*":"*"},"results":[1]}`, "1", `{"requestID":"x","signature":{"*":"*"}}`},
		{"fields after the rows", `{"results":[1],"errors":[{"code":1}],"metrics":{"resultCount":1}}`, "1", `{"errors":[{"code":1}],"metrics":{"resultCount":1}}`},
		{"fields before and after the rows", `{"a":1,"results":[1,2],"b":2}`, "1 2", `{"a":1,"b":2}`},
		{"the rows' name inside another field", `{"a":{"results":[9]},"results":[1]}`, "1", `{"a":{"results":[9]}}`},
		{"the rows' name written with an escape", `{"\u0072esults":[1]}`, "1", "{}"},
		{"brackets and quotes in strings", `{"a":"}]\"{[","results":["}]\\"]}`, `"}]\\"`, `{"a":"}]\"{["}`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			for how, from := range map[string]io.Reader{
				"at once": strings.NewReader(tc.answer), "byte by byte": iotest.OneByteReader(strings.NewReader(tc.answer)),
				"with the end at once": iotest.DataErrReader(strings.NewReader(tc.answer)),
			} {
				rows, m, err := readAll(from)
				if err != nil || strings.Join(rows, " ") != tc.rows || string(m.object()) != tc.meta {
					t.Errorf("%s: rows %v, the rest %s, %v", how, rows, m.object(), err)
				}
			}
		})
	}
}

func TestMalformedAnswers(t *testing.T) {
	cases := []struct{ name, answer string }{
		{"no object", `[1]`},
		{"a row that is no JSON", `{"results":[{"a" 1}]}`},
		{"a row that is no value", `{"results":[,1]}`},
		{"a comma after the last row", `{"results":[1,]}`},
		{"two rows without a comma", `{"results":[1 2]}`},
		{"a colon after a row", `{"results":[1:2]}`},
		{"rows that are no array", `{"results":{"a":1}}`},
		{"rows that come twice", `{"results":[1],"results":[2]}`},
		{"a name that is no string", `{1:2}`},
		{"a comma after the last field", `{"a":1,}`},
		{"two fields without a comma", `{"a":1 "b":2}`},
		{"no colon", `{"a" 1}`},
		{"something after the end", `{"results":[1]}x`},
		{"another object after the end", `{"results":[1]}{}`},
		{"a control character in a string", "{\"a\":\"\x01\"}"},
		{"brackets of two kinds", `{"results":[[1}]}`},
		{"a scalar that is none", `{"results":[nul]}`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if _, _, err := readAll(strings.NewReader(tc.answer)); !errors.Is(err, errMalformed) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestAnAnswerThatEndsEarlyIsNoSuccess cuts an answer at each of its bytes.
func TestAnAnswerThatEndsEarlyIsNoSuccess(t *testing.T) {
	const answer = `{"a":"\"x","results":[{"b":[1]},22,"s"],"c":{"d":null}}`
	want, _, err := readAll(strings.NewReader(answer))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(answer) {
		rows, _, err := readAll(strings.NewReader(answer[:n]))
		if !errors.Is(err, io.ErrUnexpectedEOF) || !slices.Equal(rows, want[:len(rows)]) {
			t.Errorf("%s: rows %v, %v", answer[:n], rows, err)
		}
	}
}

func TestAHugeAnswerIsReadWithLittleMemory(t *testing.T) {
	row := []byte(`{"a":"` + strings.Repeat("x", 1000) + `"},`)
	const rows = 20_000
	from := io.MultiReader(strings.NewReader(`{"results":[`), &repeated{row, rows, 0}, strings.NewReader(`0]}`))
	r := rowReader{in: jsonReader{from: from}, name: "results"}
	n := 0
	for {
		_, err := r.next()
		if isEnd(err) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != rows+1 || len(r.in.buf) != readSize || r.meta.size != 0 {
		t.Errorf("%d rows, a buffer of %d bytes, %d bytes of meta", n, len(r.in.buf), r.meta.size)
	}
}

// repeated reads the same bytes so many times.
type repeated struct {
	b     []byte
	times int
	pos   int
}

func (r *repeated) Read(b []byte) (int, error) {
	if r.times == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.b[r.pos:])
	if r.pos += n; r.pos == len(r.b) {
		r.pos, r.times = 0, r.times-1
	}
	return n, nil
}

func TestValuesHaveALimit(t *testing.T) {
	r := jsonReader{from: io.MultiReader(strings.NewReader(`"`), &repeated{bytes.Repeat([]byte("x"), 1000), 1 << 30, 0})}
	if _, err := r.value(1 << 20); !errors.Is(err, errMalformed) || !strings.Contains(err.Error(), "1048576 bytes") {
		t.Errorf("%v", err)
	}
}

func TestWhatStandsBesideTheRows(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.serve(t, "a:1", answers(status(200, `{"signature":"s","results":[1,2],"status":"success","metrics":{"n":2}}`)))
		c, _ := cluster.client(t)
		defer c.Close()
		rows, err := stream(c, clustermap.Query, retry.ReadOnly)
		if err != nil {
			t.Fatal(err)
		}
		if string(rows.Field("signature")) != `"s"` || rows.Field("status") != nil || rows.Ended() || rows.Address() != "a:1" {
			t.Errorf("before the rows: %s", rows.Meta())
		}
		if got := all(rows); len(got) != 2 || rows.Row() != nil || !rows.Ended() || rows.Next() {
			t.Errorf("rows %v", got)
		}
		if want := `{"signature":"s","status":"success","metrics":{"n":2}}`; string(rows.Meta()) != want || rows.Close() != nil {
			t.Errorf("after the rows: %s", rows.Meta())
		}
	})
}

func TestErrorsThatStandBeforeTheRowsEndTheAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		node := answers(status(200, `{"errors":[{"code":4040,"msg":"m"}],"results":[1]}`), status(200, oneRow))
		cluster.serve(t, "a:1", node)
		c, _ := cluster.client(t)
		defer c.Close()
		rows, err := stream(c, clustermap.Query, retry.NotIdempotent)
		if err != nil || len(all(rows)) != 1 || node.count() != 2 {
			t.Errorf("%v, %d requests", err, node.count())
		}
	})
}

func TestAPartialSearchResultIsNoError(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.serve(t, "a:1", answers(status(200, `{"status":{"total":2,"failed":1,"successful":1,"errors":{"p":"e"}},"hits":[{"id":"x"}]}`)))
		c, _ := cluster.client(t)
		defer c.Close()
		rows, err := stream(c, clustermap.Search, retry.ReadOnly)
		if err != nil || len(all(rows)) != 1 || rows.Err() != nil {
			t.Errorf("%v", err)
		}
	})
}

func TestACompleteAnswerThatIsNoJSONIsUnknown(t *testing.T) {
	for _, body := range []string{"", "hello", `{"results":[1`, `{"results":`} {
		t.Run(body, func(t *testing.T) {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				node := answers(status(200, body))
				cluster.serve(t, "a:1", node)
				c, log := cluster.client(t)
				defer c.Close()
				rows, err := stream(c, clustermap.Query, retry.NotIdempotent)
				if strings.Contains(body, "[1") && err == nil { // the number could go on, so it is no row yet
					t.Errorf("rows %v", all(rows))
				}
				var e *Error
				if !errors.As(err, &e) || e.OutcomeKnown || node.count() != 1 || log.String() != "UNKNOWN answered -> not retryable" {
					t.Errorf("%v, %d requests, log:\n%v", err, node.count(), log)
				}
			})
		})
	}
}

func TestClosingAResultEndsItsRequest(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		ended := make(chan struct{})
		cluster.serve(t, "a:1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			stalled(w, r)
			close(ended)
		}))
		c, _ := cluster.client(t)
		rows, err := stream(c, clustermap.Query, retry.ReadOnly)
		if err != nil {
			t.Fatal(err)
		}
		if err := rows.Close(); err != nil || rows.Next() || rows.Close() != nil {
			t.Errorf("%v", err)
		}
		<-ended
	})
}

func FuzzRows(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"results":[1,{"b":"]"}],"c":null}`, `{"results":null}`, `{"results":[1,]}`, `{"results":[1]}x`, `{"\u0072esults":["\\\""]}`, ``, `{`,
	} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, answer []byte, size int) {
		rows, m, err := readAll(bytes.NewReader(answer))
		small, mSmall, errSmall := readAll(&chunks{answer, max(1, size%17)})
		if fmt.Sprint(rows, err) != fmt.Sprint(small, errSmall) || !bytes.Equal(m.object(), mSmall.object()) {
			t.Fatalf("the result depends on how the bytes come: %v %v, %v %v", rows, err, small, errSmall)
		}
		if err == nil && !json.Valid(answer) {
			t.Fatal("an answer that is no JSON was accepted")
		}
		if !json.Valid(m.object()) {
			t.Fatalf("the rest is no JSON: %s", m.object())
		}
		if err == nil {
			compareWithOfficialDecoder(t, answer, rows)
		}
	})
}

// compareWithOfficialDecoder compares rows with those that encoding/json finds.
func compareWithOfficialDecoder(t *testing.T, answer []byte, rows []string) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(answer, &fields); err != nil {
		t.Fatal(err)
	}
	var want []json.RawMessage
	if raw, ok := fields["results"]; ok {
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
	}
	if len(want) != len(rows) {
		t.Fatalf("%d rows, not %d", len(rows), len(want))
	}
	for i := range want {
		if string(want[i]) != rows[i] {
			t.Fatalf("row %d is %s, not %s", i, rows[i], want[i])
		}
	}
}

// chunks reads so many bytes at a time.
type chunks struct {
	b    []byte
	size int
}

func (c *chunks) Read(b []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.b[:min(c.size, len(c.b))])
	c.b = c.b[n:]
	return n, nil
}

// FuzzAnswers gives every table an answer of any status and text.
func FuzzAnswers(f *testing.F) {
	f.Add(200, `[{"code":4040,"msg":"m","retry":true,"reason":{"code":12033}}]`)
	f.Add(500, `{"code":"x","msg":1,"reason":"text","from":"a"}`)
	f.Add(404, `{"errors":{"_":"Scope with name \"s\" is not found"}}`)
	f.Add(429, `null`)
	f.Fuzz(func(t *testing.T, status int, text string) {
		for _, table := range []judge{
			judgeQuery, judgeAnalytics, judgeSearch, judgeSearchIndexes, judgeViews, judgeDesignDocuments, judgeManagement,
		} {
			a := &Answer{Status: status, Text: text, Entries: entries(json.RawMessage(text))}
			v, bad := table(&Request{Method: "POST"}, a)
			if !bad && v != (verdict{}) {
				t.Fatalf("a success with the verdict %+v", v)
			}
			if v.reason != retry.ReasonUnknown && v.unsettled && v.reason.AllowsNonIdempotentRetry() {
				t.Fatalf("%v says that nothing was applied, and the verdict that nobody knows", v.reason)
			}
			a.Kind = v.kind
			_ = a.Error()
		}
	})
}
