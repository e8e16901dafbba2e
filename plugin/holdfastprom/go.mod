module github.com/holdfast-db/holdfast/plugin/holdfastprom

go 1.26.0

require (
	github.com/holdfast-db/holdfast v0.0.0
	github.com/prometheus/client_golang v1.25.0
	github.com/prometheus/prometheus v0.310.0
	go.mongodb.org/mongo-driver/v2 v2.10.0
)

require (
	github.com/aws/aws-sdk-go-v2 v1.48.0 // indirect
	github.com/aws/smithy-go v1.28.9 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/blevesearch/snowballstem v0.9.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dennwc/varint v1.0.0 // indirect
	github.com/dlclark/regexp2/v2 v2.13.0 // indirect
	github.com/dop251/goja v0.0.0-20260917113740-793a2a65c13b // indirect
	github.com/go-sourcemap/sourcemap v2.1.3+incompatible // indirect
	github.com/golang/geo v0.0.0-20260818125358-b200a1149890 // indirect
	github.com/google/pprof v0.0.0-20260202012954-cb029daf43ef // indirect
	github.com/grafana/regexp v0.0.0-20250905093917-f7b3be9d1853 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/xdg-go/scram v1.4.0 // indirect
	github.com/xdg-go/stringprep v1.0.4 // indirect
	github.com/youmark/pkcs8 v0.0.0-20240726163527-a2c0da244d78 // indirect
	go.uber.org/atomic v1.11.0 // indirect
	golang.org/x/crypto v0.57.0 // indirect
	golang.org/x/net v0.59.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/holdfast-db/holdfast => ../..

// The versions of the root module, so that its packages are compiled once for both.
replace (
	github.com/google/pprof => github.com/google/pprof v0.0.0-20230207041349-798e818bf904
	golang.org/x/crypto => golang.org/x/crypto v0.55.0
	golang.org/x/net => golang.org/x/net v0.58.0
	golang.org/x/sync => golang.org/x/sync v0.22.0
	golang.org/x/sys => golang.org/x/sys v0.47.0
	golang.org/x/text => golang.org/x/text v0.41.0
)
