package prometheustext

import (
	"bufio"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// sample is a value that was read just now.
type sample struct {
	attributes []string
	value      float64
}

// write writes a metric. Those that are read when they are wanted have samples.
func (f *family) write(w *bufio.Writer, samples []sample) {
	slices.SortFunc(samples, func(a, b sample) int { return slices.Compare(a.attributes, b.attributes) })
	d, all := f.definition, f.all()
	if len(samples)+len(all) == 0 {
		return
	}
	name := d.PrometheusName()
	write(w, "# HELP ", name, " ", helpEscapes.Replace(d.Description), "\n# TYPE ", name, " ", kinds[d.Kind], "\n")
	for _, s := range samples {
		writeValue(w, name, labels(d, s.attributes), s.value)
	}
	for _, s := range all {
		if d.Kind == metrics.Histogram {
			s.writeHistogram(w, name, labels(d, s.attributes))
			continue
		}
		writeValue(w, name, labels(d, s.attributes), s.total())
	}
}

var kinds = map[metrics.Kind]string{
	metrics.Histogram: "histogram", metrics.Counter: "counter", metrics.UpDownCounter: "gauge", metrics.Gauge: "gauge",
}

// writeHistogram writes how many values are in each bucket and all before it, their sum and their number.
func (s *series) writeHistogram(w *bufio.Writer, name, labels string) {
	n := uint64(0)
	separator := ""
	if labels != "" {
		separator = ","
	}
	for i := range s.buckets {
		end := math.Inf(1)
		if i < len(s.boundaries) {
			end = s.boundaries[i]
		}
		n += s.buckets[i].Load()
		writeValue(w, name+"_bucket", labels+separator+`le="`+number(end)+`"`, float64(n))
	}
	writeValue(w, name+"_sum", labels, s.total())
	writeValue(w, name+"_count", labels, float64(n))
}

func writeValue(w *bufio.Writer, name, labels string, value float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	write(w, name, labels, " ", number(value), "\n")
}

// write writes some texts. The buffer keeps an error until the end.
func write(w *bufio.Writer, texts ...string) {
	for _, t := range texts {
		_, _ = w.WriteString(t)
	}
}

// number returns a value in the format of Go, as the text format has it.
func number(value float64) string {
	if math.IsInf(value, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(value, 'g', -1, 64)
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	valueEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// labels returns the attributes that are not absent, without the braces.
func labels(d metrics.Definition, values []string) string {
	var list []string
	names := d.PrometheusLabels()
	for i, v := range values {
		if v != "" {
			list = append(list, names[i]+`="`+valueEscapes.Replace(v)+`"`)
		}
	}
	return strings.Join(list, ",")
}
