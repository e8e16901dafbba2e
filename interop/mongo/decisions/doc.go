// Package decisions lets every kind of error of the mongo API decide: by assertions, switches, ==, errors.Is and errors.As, also to the
// types of the official driver, after a failed selection and after one, two and three attempts. The program is written for the official
// driver; a test runs it with our import too, and compares what it decides. It has only tests.
package decisions
