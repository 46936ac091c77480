// What a developer does while keys are renamed. The guide shows a part of this file.
package main

import (
	"fmt"

	"keyspaces/trading"
)

func main() {
	// ANCHOR: renamed
	username, err := trading.NewUsername("zhangsan")
	if err != nil {
		panic(err)
	}
	mapping, err := trading.NewUserMapping(username)
	if err != nil {
		panic(err)
	}
	names := mapping.Names()
	fmt.Println(names.Read)  // read these in turn: the first that exists has the value
	fmt.Println(names.Write) // set or delete all of these

	found, ok := trading.ParseFormer("BO:User:Mapping:zhangsan")
	if ok && found.Key != nil {
		fmt.Println(found.Migration, found.Phase, found.Key.Key())
	}

	fmt.Println(trading.Announcement) // redis.Options{ClientName: trading.Announcement}
	// ANCHOR_END: renamed
	_, current := trading.Parse("BO:User:Mapping:zhangsan")
	_, former := trading.ParseFormer(mapping.Key())
	fmt.Println(current, former, trading.Announce())
}
