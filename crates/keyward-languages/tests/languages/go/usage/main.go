// A program as an application would have it.
package main

import (
	"errors"
	"fmt"

	"keyspaces/binaryoptions"
	"keyspaces/xeuzcloud"
)

func main() {
	// ANCHOR: usage
	folder, err := xeuzcloud.ParseUUID("550e8400-e29b-41d4-a716-446655440000")
	if err != nil {
		panic(err)
	}
	user := xeuzcloud.UUID{0x7c, 0x9e, 0x66, 0x79, 0x74, 0x25, 0x40, 0xde, 0x94, 0x4b, 0xe0, 0x7f, 0xc1, 0xf9, 0x0a, 0xe7}

	// A type for each definition. A UUID is always a value, so that building this key cannot fail.
	listing := xeuzcloud.NewFolderListing(folder)
	fmt.Println(listing.Key())
	fmt.Println("lives", xeuzcloud.FolderListingTTLMin, "to", xeuzcloud.FolderListingTTLMax, "in slot", listing.Slot())

	// A text is checked once, when it becomes a value.
	symbol, err := binaryoptions.NewSymbol("BTCUSDT")
	if err != nil {
		panic(err)
	}
	tick, err := binaryoptions.NewMarketTick(symbol)
	fmt.Println(tick.Key(), err)

	// Any key of the keyspace, back into its type.
	key, ok := xeuzcloud.Parse("xc:perm:" + folder.String() + ":" + user.String())
	if permission, is := key.(xeuzcloud.Permission); ok && is {
		fmt.Println("the permission of", permission.UserID())
	}
	_, ok = xeuzcloud.Parse([]byte("xc:perm:nobody"))
	fmt.Println("somebody's:", ok)

	// Globs, with some values or none.
	fmt.Println(xeuzcloud.PermissionGlob{FolderID: &folder}.Glob())
	fmt.Println(xeuzcloud.FileMetaGlobAll)

	// What an event makes stale.
	deleted := xeuzcloud.NewFolderDeleted(folder, user)
	for _, stale := range deleted.Keys() {
		fmt.Println("delete", stale.Key())
	}
	fmt.Println("scan", deleted.Globs())
	// ANCHOR_END: usage

	fmt.Println(xeuzcloud.CacheLifecycleGlobs())
	fmt.Println(binaryoptions.NewUserProfile(18446744073709551615).Key())
	api, _ := binaryoptions.NewAPI("/api/order")
	who, _ := binaryoptions.NewIdentifier("10086")
	limit, err := binaryoptions.NewRiskLimit(api, who)
	fmt.Println(limit.Key(), err)

	// A zero value is no value, and a zero key has no text that could be another's.
	var nobody binaryoptions.RiskLimit
	fmt.Printf("%q\n", nobody.Key())
	_, err = binaryoptions.NewRiskLimit(binaryoptions.API{}, who)
	show(err)
	_, err = binaryoptions.RiskLimitGlob{API: &binaryoptions.API{}}.Glob()
	show(err)
	_, err = binaryoptions.NewSymbol("BTC:USDT")
	show(err)
	_, err = binaryoptions.NewSymbol("BTC\xff")
	show(err)
	_, err = xeuzcloud.Build("quota_used", map[string]string{"user_id": "x:y"})
	show(err)
	_, err = xeuzcloud.Build("quota_used", map[string]string{"user": "x"})
	show(err)
	_, err = xeuzcloud.Build("quota", nil)
	show(err)
}

func show(err error) {
	var refused *binaryoptions.Refused
	if errors.As(err, &refused) {
		fmt.Printf("refused %q: %v\n", refused.Param, err)
		return
	}
	fmt.Println("refused:", err)
}
