// Times generated keys against hand-written ones: node build.js FOLDER-OF-MODULES
//
// Prints two lines for each: what, then nanoseconds for ours and by hand. The first makes the key, which
// checks its values; the second asks a key that is made for its text again.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [COUNT, ROUNDS] = [50_000, 31];
const load = (name) => import(pathToFileURL(resolve(process.argv[2], name)).href);
const { FolderListing, Permission, Uuid } = await load("xeuz-cloud.js");
const { AuthSession, MarketKline, Period, SymbolValue } = await load("binary-options.js");

const uuids = numbers((n) => Uuid.of(`550e8400-e29b-41d4-a716-${n.toString(16).padStart(12, "0")}`));
const users = numbers((n) => BigInt(n) * 977n);
const pairs = numbers((n) => SymbolValue.of(`BTC${n}`));
const period = Period.of("15m");

compare(
  "a uuid",
  (n) => new FolderListing({ folderId: uuids[n] }),
  (n) => `xc:folder:${uuids[n]}:listing`,
);
compare(
  "two uuids",
  (n) => new Permission({ folderId: uuids[n], userId: uuids[COUNT - 1 - n] }),
  (n) => `xc:perm:${uuids[n]}:${uuids[COUNT - 1 - n]}`,
);
compare(
  "a number",
  (n) => new AuthSession({ userId: users[n] }),
  (n) => `bo:auth:session:cache:${users[n]}`,
);
compare(
  "two texts",
  (n) => new MarketKline({ symbol: pairs[n], period }),
  (n) => `bo:market:kline:cache:${pairs[n]}:${period}`,
);

function compare(what, make, byHand) {
  const keys = numbers(make);
  const build = () => total((n) => keys[n].key());
  const check = () => total((n) => make(n).key());
  const hand = () => total(byHand);
  const contestants = [build, hand, check];
  const times = contestants.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, contestant] of contestants.entries()) times[at].push(contestant());
  }
  const [built, byHandTime, made] = times.map(median);
  console.log([what, made, byHandTime].join("\t"));
  console.log(["again " + what, built, byHandTime].join("\t"));
}

/** Nanoseconds for each of so many keys. Their last character is looked at: one that is not yet
 *  joined must be. */
function total(make) {
  const start = process.hrtime.bigint();
  let sum = 0;
  for (let n = 0; n < COUNT; n++) {
    const key = make(n);
    sum += key.charCodeAt(key.length - 1);
  }
  const elapsed = Number(process.hrtime.bigint() - start);
  if (sum === 0) throw new Error("no keys");
  return elapsed / COUNT;
}

function median(times) {
  return times.sort((a, b) => a - b)[times.length >> 1];
}

function numbers(make) {
  return Array.from({ length: COUNT }, (_, n) => make(n));
}
