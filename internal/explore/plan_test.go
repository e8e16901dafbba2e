package explore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

func message(command string, ordinal int) Message {
	return Message{Command: command, Target: "shop.orders", Ordinal: ordinal, Write: command != "find"}
}

func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func names(cases []Case) []string {
	list := make([]string, len(cases))
	for i, c := range cases {
		list[i] = c.String()
	}
	return list
}

var someFailures = []Failure{
	{Name: "reply-lost"},
	{Name: "write-error", Concerns: func(m Message) bool { return m.Write }},
	{Name: "cursor-gone", Concerns: func(m Message) bool { return m.Cursor }},
}

func TestEachFailureStrikesEachMessageThatItConcerns(t *testing.T) {
	next := message("getMore", 1)
	next.Write, next.Cursor = false, true
	got := names(singles([]Message{message("find", 1), next, message("update", 1)}, someFailures))
	want := []string{
		"find/shop.orders/1:reply-lost",
		"getMore/shop.orders/1:reply-lost", "getMore/shop.orders/1:cursor-gone",
		"update/shop.orders/1:reply-lost", "update/shop.orders/1:write-error",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// ranOnce are two runs that held, with a failure at the first message and one at the second. The first made the program send it again.
func ranOnce() []Outcome {
	find, again, update := message("find", 1), message("find", 2), message("update", 1)
	return []Outcome{
		{Verdict: Held, Case: Case{{find, "reply-lost"}}, Messages: []Message{find, again, update}, Struck: []int{0}},
		{Verdict: Held, Case: Case{{update, "write-error"}}, Messages: []Message{find, update}, Struck: []int{1}},
	}
}

func TestASecondStrikeIsAtAMessageThatCameAfterTheFirst(t *testing.T) {
	got := names(deeper(ranOnce(), someFailures, 100, generator(1)))
	want := []string{
		"find/shop.orders/1:reply-lost+find/shop.orders/2:reply-lost",
		"find/shop.orders/1:reply-lost+update/shop.orders/1:reply-lost",
		"find/shop.orders/1:reply-lost+update/shop.orders/1:write-error",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The drawn cases must not share memory with the cases they go on from.
func TestADeeperCaseLeavesTheOneItGoesOnFrom(t *testing.T) {
	held := ranOnce()[:1]
	held[0].Case = append(make(Case, 0, 8), held[0].Case...)
	list := deeper(held, someFailures, 100, generator(1))
	if list[0][1] == list[1][1] || len(held[0].Case) != 1 {
		t.Errorf("%q", names(list))
	}
}

// heldWith returns a run that held, with a number of messages after its strike.
func heldWith(messages int) []Outcome {
	find := message("find", 1)
	o := Outcome{Verdict: Held, Case: Case{{find, "reply-lost"}}, Messages: []Message{find}, Struck: []int{0}}
	for n := range messages {
		o.Messages = append(o.Messages, message("update", n+1))
	}
	return []Outcome{o}
}

func TestASampleIsTheSameForASeedAndHasNoCaseTwice(t *testing.T) {
	one := []Failure{{Name: "reply-lost"}}
	seen := map[string]bool{}
	for seed := range uint64(20) {
		first, again := names(deeper(heldWith(50), one, 10, generator(seed))), names(deeper(heldWith(50), one, 10, generator(seed)))
		if !reflect.DeepEqual(first, again) || len(first) != 10 {
			t.Fatalf("seed %d: %q, then %q", seed, first, again)
		}
		seen[fmt.Sprint(first)] = true
		place := -1
		for _, name := range first {
			var ordinal int
			if _, err := fmt.Sscanf(name, "find/shop.orders/1:reply-lost+update/shop.orders/%d:reply-lost", &ordinal); err != nil || ordinal <= place {
				t.Fatalf("seed %d: %s comes after %d", seed, name, place)
			}
			place = ordinal
		}
	}
	if len(seen) < 15 {
		t.Errorf("20 seeds have only %d samples", len(seen))
	}
}

func TestASampleOfMoreThanThereAreIsAll(t *testing.T) {
	one := []Failure{{Name: "reply-lost"}}
	for n, want := range map[int]int{-1: 0, 0: 0, 2: 2, 3: 3, 4: 3} {
		if got := deeper(heldWith(3), one, n, generator(1)); len(got) != want {
			t.Errorf("%d of 3 are %d, want %d", n, len(got), want)
		}
	}
	if got := deeper(nil, one, 5, generator(1)); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestWeightsCountInASample(t *testing.T) {
	failures := []Failure{{Name: "often", Weight: 4}, {Name: "once"}, {Name: "also-once", Weight: 1}}
	const rounds = 6000
	often := 0
	draw := generator(7)
	for range rounds {
		if deeper(append(heldWith(1), heldWith(2)...), failures, 1, draw)[0][1].Failure == "often" {
			often++
		}
	}
	if share := float64(often) / rounds; math.Abs(share-4.0/6) > 0.03 {
		t.Errorf("the one with 4 of 6 was drawn with a share of %.3f", share)
	}
}

// A program of many messages has millions of pairs.
func TestASampleOfMillions(t *testing.T) {
	var failures []Failure
	for n := range 30 {
		failures = append(failures, Failure{Name: fmt.Sprintf("f%d", n)})
	}
	var held []Outcome
	for range 100 {
		held = append(held, heldWith(1000)...)
	}
	if got := testing.AllocsPerRun(1, func() { deeper(held, failures, 20, generator(1)) }); got > 1000 {
		t.Errorf("%v allocations", got)
	}
}
