package topology

import "time"

// rttWeight is the weight of the newest sample: Server Selection, "Calculation of Average Round Trip Times".
const rttWeight = 0.2

// NextRTT returns the average round trip time after one more sample. It is the sample itself if prev is nil or has no
// average; an Unknown server never has one.
func NextRTT(prev *Server, sample time.Duration) time.Duration {
	if prev == nil || !prev.HasRTT {
		return sample
	}
	return time.Duration(rttWeight*float64(sample) + (1-rttWeight)*float64(prev.RTT))
}
