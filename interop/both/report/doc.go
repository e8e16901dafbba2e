// Package report opens the pages of `holdfast prove --html` in a browser: an accessibility checker runs on them in the light, in the dark and on
// a phone, and they are used by keyboard. It has only tests. They need Chromium, Node, and npm, which installs the packages of
// package-lock.json. `go -C interop test ./both/report -run TestPictures -pictures` makes the pictures of docs/ anew.
package report
