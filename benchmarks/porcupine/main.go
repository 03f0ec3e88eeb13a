// Command porcupine judges histories with the Porcupine library and prints one line of JSON: the
// median seconds, the peak memory and the verdicts. Parsing is not timed.
//
//	porcupine register FILE...
//	porcupine kv FILE...
//	porcupine kv-explained FILE...
//	porcupine log FILE...
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

const timeLimit = 60 * time.Second

type work struct {
	model  porcupine.Model
	events []porcupine.Event
}

type result struct {
	Seconds   float64  `json:"seconds"`
	PeakMB    float64  `json:"peak_mb"`
	Verdicts  []string `json:"verdicts"`
	Explained bool     `json:"explained"`
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: porcupine register|kv|kv-explained|log FILE...")
		os.Exit(64)
	}
	kind, files := os.Args[1], os.Args[2:]
	out := result{Explained: kind == "kv-explained"}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(66)
		}
		seconds, verdict := judge(parse(kind, string(text)), out.Explained)
		out.Seconds += seconds
		out.Verdicts = append(out.Verdicts, verdict)
	}
	out.PeakMB = peakMB()
	line, _ := json.Marshal(out)
	fmt.Println(string(line))
}

func parse(kind, text string) work {
	switch kind {
	case "register":
		return work{registerModel, registerEvents(text)}
	case "log":
		return work{logModel, logEvents(text)}
	default:
		return work{kvModel, kvEvents(text)}
	}
}

// judge gives the median of as many runs as fit into half a second, at least one.
func judge(w work, explained bool) (float64, string) {
	var times []float64
	var verdict porcupine.CheckResult
	begun := time.Now()
	for len(times) == 0 || (len(times) < 101 && time.Since(begun) < 500*time.Millisecond) {
		start := time.Now()
		if explained {
			verdict, _ = porcupine.CheckEventsVerbose(w.model, w.events, timeLimit)
		} else {
			verdict = porcupine.CheckEventsTimeout(w.model, w.events, timeLimit)
		}
		times = append(times, time.Since(start).Seconds())
	}
	sort.Float64s(times)
	return times[len(times)/2], string(verdict)
}

func peakMB() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}
