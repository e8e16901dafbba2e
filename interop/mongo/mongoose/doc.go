// Package mongoose runs a mongoose application on a replica set of three processes that npm's mongodb-memory-server starts
// from holdfast by the name of mongod. It has only tests. They need Node and npm, which installs the packages of
// package-lock.json.
package mongoose
