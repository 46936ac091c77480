// Building keys against concatenation by hand; prints name, our nanoseconds and theirs.
package main

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"

	"keyspaces/binaryoptions"
	"keyspaces/xeuzcloud"
)

const (
	count  = 2000
	rounds = 1000
)

var sink string

func main() {
	ids := make([]xeuzcloud.UUID, count)
	symbols := make([]binaryoptions.Symbol, count)
	texts := make([]string, count)
	for n := range ids {
		ids[n] = xeuzcloud.UUID{0x55, 0x0e, 0x84, 0x00, 0xe2, 0x9b, 0x41, 0xd4, 0xa7, 0x16, 0x44, 0x66, 0, byte(n >> 16), byte(n >> 8), byte(n)}
		texts[n] = "SYM" + strconv.Itoa(n) + "USDT"
		symbols[n] = must(binaryoptions.NewSymbol(texts[n]))
	}
	period := must(binaryoptions.NewPeriod("15m"))
	minutes := period.String()

	compare("a uuid",
		func(n int) string { return xeuzcloud.NewFolderListing(ids[n]).Key() },
		func(n int) string { return "xc:folder:" + hyphenated(ids[n]) + ":listing" })
	compare("a number",
		func(n int) string { return binaryoptions.NewUserProfile(uint64(n) * 977).Key() },
		func(n int) string { return "bo:user:profile:cache:" + strconv.FormatUint(uint64(n)*977, 10) })
	compare("two texts",
		func(n int) string {
			kline, err := binaryoptions.NewMarketKline(symbols[n], period)
			if err != nil {
				panic(err)
			}
			return kline.Key()
		},
		func(n int) string { return "bo:market:kline:cache:" + texts[n] + ":" + minutes })
	compare("checking two texts",
		func(n int) string {
			return must(binaryoptions.NewMarketKline(must(binaryoptions.NewSymbol(texts[n])), must(binaryoptions.NewPeriod(minutes)))).Key()
		},
		func(n int) string { return "bo:market:kline:cache:" + texts[n] + ":" + minutes })
}

// hyphenated writes a UUID as the usual library does.
func hyphenated(id [16]byte) string {
	var text [36]byte
	hex.Encode(text[:], id[:4])
	text[8] = '-'
	hex.Encode(text[9:13], id[4:6])
	text[13] = '-'
	hex.Encode(text[14:18], id[6:8])
	text[18] = '-'
	hex.Encode(text[19:23], id[8:10])
	text[23] = '-'
	hex.Encode(text[24:], id[10:])
	return string(text[:])
}

func compare(name string, keyward, hand func(n int) string) {
	ours, theirs := math.MaxFloat64, math.MaxFloat64
	for round := 0; round < rounds; round++ {
		ours = math.Min(ours, measure(keyward))
		theirs = math.Min(theirs, measure(hand))
	}
	fmt.Printf("%s\t%f\t%f\n", name, ours, theirs)
}

func measure(build func(n int) string) float64 {
	start := time.Now()
	for n := 0; n < count; n++ {
		sink = build(n)
	}
	return float64(time.Since(start).Nanoseconds()) / count
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
