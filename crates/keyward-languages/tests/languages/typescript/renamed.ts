// What a developer does while keys are renamed. The guide shows this file.

// ANCHOR: renamed
import { announcement, parseFormer, UserMapping, Username } from "./trading.js";

const mapping = new UserMapping({ username: Username.of("zhangsan") });
const { read, write } = mapping.names();
console.log(read); // read these in turn: the first that exists has the value
console.log(write); // set or delete all of these

const found = parseFormer("BO:User:Mapping:zhangsan"); // a string or its bytes
console.log(found?.migration, found?.phase, found?.key?.key());

console.log(announcement); // createClient({ name: announcement })
// ANCHOR_END: renamed

import { announce, parse } from "./trading.js";

console.log(parse("BO:User:Mapping:zhangsan"), parseFormer(mapping.key()), announce());
