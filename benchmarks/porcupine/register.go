package main

import (
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

const (
	opRead = iota
	opWrite
	opCas
)

// absent stands for nil.
const absent = -1

type registerInput struct{ op, from, to int }

type registerOutput struct {
	value   int
	ok      bool
	unknown bool
}

var registerModel = porcupine.Model{
	Init: func() interface{} { return absent },
	Hash: func(state interface{}) uint64 { return uint64(state.(int)+2) * 0x9e3779b97f4a7c15 },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		held, in, out := state.(int), input.(registerInput), output.(registerOutput)
		switch in.op {
		case opRead:
			return out.unknown || out.value == held, held
		case opWrite:
			return true, in.to
		}
		if in.from == held && (out.ok || out.unknown) {
			return true, in.to
		}
		return in.from != held && (!out.ok || out.unknown), held
	},
}

func number(word string) int {
	value, err := strconv.Atoi(word)
	if err != nil {
		return absent
	}
	return value
}

// registerEvents reads the format of the etcd logs.
func registerEvents(text string) []porcupine.Event {
	var events []porcupine.Event
	open := map[int]int{}
	kinds := map[int]int{}
	next := 0
	for _, line := range strings.Split(text, "\n") {
		_, line, found := strings.Cut(line, "jepsen.util - ")
		words := strings.Split(line, "\t")
		if !found || len(words) < 4 {
			continue
		}
		process, err := strconv.Atoi(words[0])
		if err != nil {
			continue
		}
		if words[1] == ":invoke" {
			in := registerInput{op: opRead}
			switch words[2] {
			case ":write":
				in = registerInput{op: opWrite, to: number(words[3])}
			case ":cas":
				pair := strings.Fields(strings.Trim(words[3], "[]"))
				in = registerInput{op: opCas, from: number(pair[0]), to: number(pair[1])}
			}
			events = append(events, porcupine.Event{ClientId: process, Kind: porcupine.CallEvent, Value: in, Id: next})
			open[process], kinds[next] = next, in.op
			next++
			continue
		}
		id := open[process]
		out := registerOutput{ok: words[1] == ":ok", value: number(words[3])}
		if words[1] == ":info" || (words[1] == ":fail" && kinds[id] == opRead) {
			continue
		}
		delete(open, process)
		events = append(events, porcupine.Event{ClientId: process, Kind: porcupine.ReturnEvent, Value: out, Id: id})
		kinds[id] = -1
	}
	// What was never answered may have happened at any time.
	for id := 0; id < next; id++ {
		if kinds[id] != -1 {
			events = append(events, porcupine.Event{Kind: porcupine.ReturnEvent, Value: registerOutput{unknown: true}, Id: id})
		}
	}
	return events
}
