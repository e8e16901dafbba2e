// Package backtrack matches the regular expressions that Go's own engine refuses: those with look-around, back references, atomic
// groups, possessive quantifiers and conditions. It searches as PCRE does, by backtracking. The syntax is read by
// github.com/dlclark/regexp2/v2/syntax. The matcher of that library is not used: it can be ended only by a clock of its own,
// which a goroutine of the whole process keeps. Here the matcher counts its steps, so that its caller can end it at any of them.
//
// A Program is immutable: several goroutines may use it at the same time.
package backtrack
