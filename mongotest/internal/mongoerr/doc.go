// Package mongoerr is the errors that a MongoDB server answers: their codes and names in one table, and the error that becomes a
// reply.
package mongoerr
