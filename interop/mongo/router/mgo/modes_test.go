package mgo

import (
	"net"
	"slices"
	"strconv"
	"testing"

	driver "github.com/globalsign/mgo"
	"github.com/globalsign/mgo/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

func TestModesOfMgo(t *testing.T) {
	for name, a := range map[string]age{"today": today, "2014": of2014} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s, _ := w.connect(a)
			check(t, s.DB("app").C("c").Insert(document{ID: 1}))
			w.discover(s)
			primary := w.set.Primary()
			secondaries := []int{(primary + 1) % 3, (primary + 2) % 3}
			for _, c := range []struct {
				name string
				mode driver.Mode
				tag  string
				want []int
			}{
				{"Strong", driver.Strong, "", []int{primary}},
				{"Monotonic", driver.Monotonic, "", secondaries},
				{"Eventual", driver.Eventual, "", secondaries},
				{"PrimaryPreferred", driver.PrimaryPreferred, "", []int{primary}},
				{"Secondary", driver.Secondary, "", secondaries},
				{"Secondary with tags", driver.Secondary, strconv.Itoa(secondaries[0]), secondaries[:1]},
				{"Secondary with other tags", driver.Secondary, strconv.Itoa(secondaries[1]), secondaries[1:]},
				{"SecondaryPreferred", driver.SecondaryPreferred, "", secondaries},
				{"SecondaryPreferred with the primary's tags", driver.SecondaryPreferred, strconv.Itoa(primary), []int{primary}},
				{"Nearest with the primary's tags", driver.Nearest, strconv.Itoa(primary), []int{primary}},
			} {
				w.checkMode(s, c.name, c.mode, c.tag, c.want)
			}
		})
	}
}

func (w *world) checkMode(s *driver.Session, name string, mode driver.Mode, tag string, want []int) {
	w.Helper()
	s = s.Copy()
	defer s.Close()
	s.SetMode(mode, true)
	if tag != "" {
		s.SelectServers(bson.D{{Name: "n", Value: tag}})
	}
	c := s.DB("app").C("c")
	var d document
	if err := c.FindId(1).One(&d); err != nil || d.ID != 1 {
		w.Errorf("%s: find: %+v, %v", name, d, err)
		return
	}
	w.wantMember(name, "find", want)
	if n, err := c.Count(); err != nil || n != 1 {
		w.Errorf("%s: count: %d, %v", name, n, err)
		return
	}
	w.wantMember(name, "count", want)
}

func (w *world) wantMember(name, command string, want []int) {
	w.Helper()
	got := w.answered(command)
	if !slices.Contains(want, got) {
		w.Errorf("%s: member %d answered %s, want one of %v", name, got, command, want)
	}
}

// slaveOk and $readPreference in the bytes that mgo sends: retry-rules, read preferences at a router. A find of mgo to a server that is not a
// mongos has the bit alone. mgo never sends the preference alone, so the bit is cleared in its bytes then.
func TestSlaveOkInTheBytesOfMgo(t *testing.T) {
	w := newWorld(t)
	s, _ := w.connect(today)
	check(t, s.DB("app").C("c").Insert(document{ID: 1}))
	w.discover(s)
	primary := w.set.Primary()
	first, second := (primary+1)%3, (primary+2)%3
	plain, mongos := age{wire: 3, noMongos: true}, of2014
	plainToday := age{noMongos: true}
	for _, c := range []struct {
		name      string
		age       age
		mode      driver.Mode
		tag       string
		clears    bool
		bit, pref bool
		want      []int
	}{
		{"neither", plain, driver.Strong, "", false, false, false, []int{primary}},
		{"neither, a command", plainToday, driver.Strong, "", false, false, false, []int{primary}},
		{"slaveOk", plain, driver.Monotonic, "", false, true, false, []int{first, second}},
		{"slaveOk, a command", plainToday, driver.Monotonic, "", false, true, false, []int{first, second}},
		{"both", mongos, driver.Secondary, strconv.Itoa(first), false, true, true, []int{first}},
		{"both, a command", today, driver.Secondary, strconv.Itoa(second), false, true, true, []int{second}},
		{"both, primaryPreferred", mongos, driver.PrimaryPreferred, "", false, true, true, []int{primary}},
		{"the preference", mongos, driver.Secondary, strconv.Itoa(second), true, false, true, []int{second}},
		{"the preference, a command", today, driver.Secondary, strconv.Itoa(first), true, false, true, []int{first}},
	} {
		q := w.findOf(c.age, c.mode, c.tag)
		if c.clears {
			q.Flags &^= wire.SecondaryOk
		}
		var parsed bson.M
		check(t, bson.Unmarshal(q.Document, &parsed))
		if _, pref := parsed["$readPreference"]; pref != c.pref || (q.Flags&wire.SecondaryOk != 0) != c.bit {
			t.Errorf("%s: flags %b, %v", c.name, q.Flags, parsed)
			continue
		}
		w.ask(&q)
		w.wantMember(c.name, "find", c.want)
	}
}

// findOf returns the find that mgo sends.
func (w *world) findOf(a age, mode driver.Mode, tag string) wire.Query {
	w.Helper()
	s, sent := w.connect(a)
	s.SetMode(mode, true)
	if tag != "" {
		s.SelectServers(bson.D{{Name: "n", Value: tag}})
	}
	var d document
	check(w.T, s.DB("app").C("c").FindId(1).One(&d))
	if a.wire == 0 {
		return sent.query("app.$cmd")
	}
	return sent.query("app.c")
}

// ask sends an OP_QUERY on a connection of its own, and waits for the reply.
func (w *world) ask(q *wire.Query) {
	w.Helper()
	conn, err := net.Dial("tcp", w.address)
	check(w.T, err)
	defer conn.Close()
	_, err = conn.Write(q.Append(nil, 7))
	check(w.T, err)
	message, err := wire.ReadMessage(conn, nil, wire.MaxMessageLength)
	check(w.T, err)
	if r, err := wire.ParseReplies(message); err != nil || r.Count != 1 || r.Flags != wire.AwaitCapable {
		w.Fatalf("%+v, %v", r, err)
	}
}
