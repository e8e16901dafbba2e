// Package once tests mongo/once with other people's client and server: programs that use it are killed between its steps, with this module's
// client and with the official one, on mongotest and on a real server.
package once
