// Package javascript runs the JavaScript of commands ($where, $function, $accumulator, mapReduce) on the engine goja, with the types and
// functions that the code has on a real server: https://www.mongodb.com/docs/manual/reference/operator/query/where/.
//
// A call ends when the command's query.Work says so, which is asked every 5 ms of a call. So is the memory: a call ends when the heap
// of the whole process has grown by 1 GiB since its beginning. Two things are not bounded: a built-in function that is still in its
// own loop (a regular expression that backtracks), and what such a function allocates at once.
package javascript
