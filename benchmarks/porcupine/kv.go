package main

import (
	"hash/maphash"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

type kvInput struct{ f, key, value string }

var seed = maphash.MakeSeed()

var kvModel = porcupine.Model{
	Hash: func(state interface{}) uint64 { return maphash.String(seed, state.(string)) },
	PartitionEvent: func(history []porcupine.Event) [][]porcupine.Event {
		parts := map[string][]porcupine.Event{}
		keys := map[int]string{}
		for _, event := range history {
			if event.Kind == porcupine.CallEvent {
				keys[event.Id] = event.Value.(kvInput).key
			}
			key := keys[event.Id]
			parts[key] = append(parts[key], event)
		}
		var names []string
		for name := range parts {
			names = append(names, name)
		}
		sort.Strings(names)
		var all [][]porcupine.Event
		for _, name := range names {
			all = append(all, parts[name])
		}
		return all
	},
	Init: func() interface{} { return "" },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		held, in := state.(string), input.(kvInput)
		switch in.f {
		case "get":
			return output.(string) == held, held
		case "put":
			return true, in.value
		}
		return true, held + in.value
	},
}

var kvLine = regexp.MustCompile(`\{:process (\d+), :type :(\w+), :f :(\w+), :key "(.*)", :value (.*)\}`)

func kvEvents(text string) []porcupine.Event {
	var events []porcupine.Event
	open := map[int]int{}
	for _, line := range strings.Split(text, "\n") {
		words := kvLine.FindStringSubmatch(line)
		if words == nil {
			continue
		}
		process, _ := strconv.Atoi(words[1])
		value := strings.Trim(words[5], `"`)
		if words[2] == "invoke" {
			id := len(events)
			open[process] = id
			events = append(events, porcupine.Event{ClientId: process, Kind: porcupine.CallEvent, Value: kvInput{words[3], words[4], value}, Id: id})
		} else {
			events = append(events, porcupine.Event{ClientId: process, Kind: porcupine.ReturnEvent, Value: value, Id: open[process]})
		}
	}
	return renumber(events)
}

// renumber gives calls the ids 0, 1, 2, ... that the library wants.
func renumber(events []porcupine.Event) []porcupine.Event {
	ids := map[int]int{}
	for at := range events {
		if events[at].Kind == porcupine.CallEvent {
			ids[events[at].Id] = len(ids)
		}
		events[at].Id = ids[events[at].Id]
	}
	return events
}
