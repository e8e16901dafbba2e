package metrics

import "sync/atomic"

// recent has a few series of a metric: to find one here costs less than to find it among all, because no hash of eight texts is made. The first
// series of a place keeps it.
type recent [16]atomic.Pointer[made]

// place returns the place of the series with these values, which other series have, too.
func (r *recent) place(v *values) *atomic.Pointer[made] {
	mixed := uint(0)
	for i := range v {
		mixed = mix(mixed, v[i])
	}
	return &r[mixed%uint(len(r))]
}

// placeOfOne is place for a series with one value.
func (r *recent) placeOfOne(value string) *atomic.Pointer[made] {
	return &r[mix(0, value)%uint(len(r))]
}

// mix adds a value, which changes nothing if it is empty.
func mix(mixed uint, value string) uint {
	if n := len(value); n > 0 {
		return mixed*31 + uint(n) + uint(value[n-1])
	}
	return mixed
}
