package bench

import (
	"fmt"
	"testing"
	"time"
)

// bars are the most that our client's cost may be as a fraction of the official driver's. The zero bars judge nothing.
type bars struct {
	instructions float64
	allocations  float64 // judged where instructions cannot be counted
}

// result is what a cell's operation cost each client in each round.
type result struct {
	counted bool // instructions too
	costs   map[string][]cost
}

func cpu(c cost) float64         { return float64(c.cpu) }
func executed(c cost) float64    { return c.instructions }
func allocations(c cost) float64 { return c.allocations }

// ratio returns the median of the rounds' ratios of one client's cost to another's.
func (r result) ratio(of func(cost) float64, client, to string) float64 {
	ratios := make([]float64, len(r.costs[client]))
	for i, c := range r.costs[client] {
		ratios[i] = of(c) / of(r.costs[to][i])
	}
	return median(ratios)
}

// typical returns the median of one client's costs.
func (r result) typical(of func(cost) float64, client string) float64 {
	values := make([]float64, len(r.costs[client]))
	for i, c := range r.costs[client] {
		values[i] = of(c)
	}
	return median(values)
}

func (r result) print(figure string) {
	for _, name := range []string{rawClient, oursClient, officialClient} {
		fmt.Printf("%-26s %10v %14.0f %12.1f\n", figure+", "+name,
			time.Duration(r.typical(cpu, name)), r.typical(executed, name), r.typical(allocations, name))
	}
	fmt.Printf("figure official-%s-raw-ratio %.2f\n", figure, r.ratio(cpu, officialClient, rawClient))
	fmt.Printf("figure %s-raw-ratio %.2f\n", figure, r.ratio(cpu, oursClient, rawClient))
	fmt.Printf("figure %s-vs-official-cpu %.2f\n", figure, r.ratio(cpu, oursClient, officialClient))
	fmt.Printf("figure %s-vs-official-allocations %.3f\n", figure, r.ratio(allocations, oursClient, officialClient))
	if r.counted {
		fmt.Printf("figure %s-vs-official-instructions %.3f\n", figure, r.ratio(executed, oursClient, officialClient))
	} else {
		fmt.Printf("figure %s-vs-official-instructions not-counted\n", figure)
	}
}

// judge returns an error if our client costs too much, or if the ratio shows that nothing was measured.
func (r result) judge(figure string, most bars) error {
	unit, of, bar := "instructions", executed, most.instructions
	if !r.counted {
		unit, of, bar = "allocations", allocations, most.allocations
	}
	ratio := r.ratio(of, oursClient, officialClient)
	if ratio > 0 && ratio <= bar {
		return nil
	}
	return fmt.Errorf("%s-vs-official-%s is %.3f; it must be above 0 and at most %.2f", figure, unit, ratio, bar)
}

func TestJudge(t *testing.T) {
	cheap, dear := cost{time.Hour, 15, 9}, cost{time.Second, 17, 11}
	for _, c := range []struct {
		name    string
		counted bool
		ours    []cost
		want    string
	}{
		{"few instructions are enough", true, []cost{{time.Hour, 15, 99}}, ""},
		{"too many instructions are too many", true, []cost{{time.Second, 17, 1}}, "x-vs-official-instructions is 0.170; it must be above 0 and at most 0.16"},
		{"no instructions at all are a mistake", true, []cost{{time.Second, 0, 1}}, "x-vs-official-instructions is 0.000; it must be above 0 and at most 0.16"},
		{"without counters few allocations are enough", false, []cost{{time.Hour, 0, 9}}, ""},
		{"without counters too many allocations are too many", false, []cost{{time.Second, 0, 11}}, "x-vs-official-allocations is 0.110; it must be above 0 and at most 0.10"},
		{"the median round counts", true, []cost{dear, cheap, cheap}, ""},
		{"one good round is not enough", true, []cost{dear, cheap, dear}, "x-vs-official-instructions is 0.170; it must be above 0 and at most 0.16"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := result{counted: c.counted, costs: map[string][]cost{oursClient: c.ours}}
			for range c.ours {
				r.costs[officialClient] = append(r.costs[officialClient], cost{time.Minute, 100, 100})
			}
			got := ""
			if err := r.judge("x", bars{0.16, 0.10}); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q; want %q", got, c.want)
			}
		})
	}
}
