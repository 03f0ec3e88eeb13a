package main

import (
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// record is a log's last record; a log is what can be reached from it, so that a state costs O(1).
type record struct {
	offset, value int
	before        *record
}

type logInput struct {
	isAppend    bool
	value, from int
}

type logOutput struct {
	offset int
	values []int
}

func end(log *record) int {
	if log == nil {
		return 0
	}
	return log.offset + 1
}

var logModel = porcupine.Model{
	Init: func() interface{} { return (*record)(nil) },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		log, in, out := state.(*record), input.(logInput), output.(logOutput)
		if in.isAppend {
			if out.offset != end(log) {
				return false, log
			}
			return true, &record{out.offset, in.value, log}
		}
		if end(log) != in.from+len(out.values) {
			return false, log
		}
		at := log
		for back := len(out.values) - 1; back >= 0; back-- {
			if at.value != out.values[back] {
				return false, log
			}
			at = at.before
		}
		return true, log
	},
	Hash: func(state interface{}) uint64 {
		log := state.(*record)
		if log == nil {
			return 0
		}
		return uint64(log.offset+1)*0x9e3779b97f4a7c15 ^ uint64(log.value)
	},
	Equal: func(a, b interface{}) bool {
		one, two := a.(*record), b.(*record)
		for one != two {
			if one == nil || two == nil || one.offset != two.offset || one.value != two.value {
				return false
			}
			one, two = one.before, two.before
		}
		return true
	},
}

// logEvents reads lines of process, invoke or ok, append or read, and values.
func logEvents(text string) []porcupine.Event {
	var events []porcupine.Event
	open := map[int]int{}
	next := 0
	for _, line := range strings.Split(text, "\n") {
		words := strings.Split(line, "\t")
		if len(words) < 4 {
			continue
		}
		process, _ := strconv.Atoi(words[0])
		numbers := []int{}
		for _, word := range strings.Fields(words[3]) {
			value, _ := strconv.Atoi(word)
			numbers = append(numbers, value)
		}
		isAppend := words[2] == "append"
		if words[1] == "invoke" {
			in := logInput{isAppend: isAppend, value: numbers[0], from: numbers[0]}
			events = append(events, porcupine.Event{ClientId: process, Kind: porcupine.CallEvent, Value: in, Id: next})
			open[process] = next
			next++
			continue
		}
		out := logOutput{offset: numbers[0], values: numbers[1:]}
		events = append(events, porcupine.Event{ClientId: process, Kind: porcupine.ReturnEvent, Value: out, Id: open[process]})
	}
	return events
}
