// Package mgo plays mgo, a driver of 2012 to 2018, through the router: it knows no OP_MSG. What it cannot play:
//
//   - Logins. The router has no users yet.
//   - Monotonic, after a write. mgo reads from a mongos as before then, because its connection is to a primary already.
//   - $readPreference without the bit slaveOk. It never sends that: the test clears the bit in what it sends.
//   - The release of 2014 itself, whose writes were OP_INSERT, OP_UPDATE and OP_DELETE: the module proxy has only the last one. It sends finds and
//     writes as that release did if a server says that it is old enough, so a connection between it and the router says so.
package mgo
