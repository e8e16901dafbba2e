package memd

import "hash/crc32"

// VBucket returns the vbucket of a document's key, without a collection id, in a bucket with n vbuckets. n must be positive.
func VBucket(key []byte, n int) uint16 {
	return uint16(int(crc32.ChecksumIEEE(key)>>16&0x7fff) % n)
}
