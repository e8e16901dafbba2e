//go:build race

package differential

// raceDetector tells that what runs is slow and looks for something else: the commands are compared without it.
const raceDetector = true
