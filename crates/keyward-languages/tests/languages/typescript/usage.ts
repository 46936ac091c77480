// What a developer does with generated keys. The guide shows parts of this file.

// ANCHOR: build
import { FileMoved, FolderListing, Permission, parse, Uuid } from "./xeuz-cloud.js";

// Text from outside becomes a value once, where it comes in.
const folderId = Uuid.of("550e8400-e29b-41d4-a716-446655440000");

const listing = new FolderListing({ folderId });
console.log(listing.key()); // redis.get(listing.key())
console.log(FolderListing.ttl.maxMs); // redis.set(…, "PX", FolderListing.ttl.maxMs)
console.log(listing.slot());
// ANCHOR_END: build

// ANCHOR: parse
const key = parse("xc:perm:550e8400-e29b-41d4-a716-446655440000:7c9e6679-7425-40de-944b-e07fc1f90ae7");
if (key === undefined) {
  console.log("nobody's key");
} else if (key.definition === "permission") {
  console.log("a permission of user", key.params.userId); // TypeScript knows its parameters
} else {
  console.log("another key:", key.definition);
}
// ANCHOR_END: parse

// ANCHOR: glob
console.log(Permission.glob({ folderId })); // everyone's permission in one folder
console.log(FolderListing.everything);
// ANCHOR_END: glob

// ANCHOR: events
const moved = new FileMoved({
  fileId: Uuid.of("6ba7b810-9dad-41d1-80b4-00c04fd430c8"),
  fromId: folderId,
  toId: Uuid.of("7c9e6679-7425-40de-944b-e07fc1f90ae7"),
});
for (const invalidated of moved.keys()) console.log(invalidated); // redis.unlink(...moved.keys())
// ANCHOR_END: events

// ANCHOR: values
import {
  AuthMapping,
  Identifier,
  KeywardError,
  RiskLimit,
  Api,
  UserBalance,
  Username,
} from "./binary-options.js";

const username = Username.of("zhang.san@example.com"); // checked: a name with a colon would throw
console.log(new AuthMapping({ username }).key());

// Numbers of 64 bits are bigint, so that none of them is rounded.
console.log(UserBalance.glob({ userId: 18446744073709551615n }));

// Any text may be an `encoded` value; the key holds it with %XX.
console.log(new RiskLimit({ api: Api.of("/api/order?id=1"), identifier: Identifier.of("10086") }).key());

try {
  Username.of("zhang:san");
} catch (error) {
  if (error instanceof KeywardError) console.log(error.message);
}
// ANCHOR_END: values

// What TypeScript refuses is refused at run time too, where a caller does not look at types.
for (const hostile of ["x:y", "*", 42, undefined, "\ud800", { toString: () => "x" }]) {
  try {
    console.log(new FolderListing({ folderId: hostile as Uuid }).key());
  } catch (error) {
    console.log(error instanceof KeywardError ? `${error.param}: ${error.message}` : error);
  }
}
const forged: FolderListing = Object.create(FolderListing.prototype);
try {
  console.log(forged.key());
} catch (error) {
  console.log(error instanceof TypeError);
}
