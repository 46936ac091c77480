// Runs golden vectors against compiled modules, as a caller in plain JavaScript would.
//
//   node runner.js FOLDER-OF-MODULES VECTORS…

import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...files] = process.argv.slice(2);
let [checked, failed] = [0, 0];

for (const file of files) {
  const vectors = JSON.parse(readFileSync(file, "utf8"));
  const name = basename(file, ".vectors.json");
  const keyspace = await import(pathToFileURL(resolve(folder, `${name}.js`)).href);
  for (const kind of ["prefixes", "build", "parse", "glob", "events", "former", "names"]) {
    for (const vector of vectors[kind]) check(name, kind, vector, vectors.prefix, keyspace);
  }
}
console.log(`checked ${checked} vectors in ${files.length} keyspaces`);
process.exitCode = failed === 0 ? 0 : 1;

function check(name, kind, vector, prefixTexts, keyspace) {
  const texts = texted(vector.params ?? {});
  if (texts === undefined) return;
  checked += 1;
  const prefix = keyspace.Prefix?.shape.fromTexts(prefixTexts);
  const expected = { ...vector };
  delete expected.params;
  let got;
  try {
    got = { prefixes, build, parse, glob, events, former, names }[kind](vector, texts, prefix, keyspace);
  } catch (error) {
    if (!(error instanceof keyspace.KeywardError)) throw error;
    got = { ...named(vector), refused: error.param ?? "" };
    if (error.reservedBy !== undefined) got.reserved = error.reservedBy;
    if (kind === "prefixes" && error.definition !== "prefix") got.definition = error.definition;
  }
  if (["parse", "former"].includes(kind) && "params" in vector) expected.params = vector.params;
  if (sorted(got) !== sorted(expected)) {
    failed += 1;
    console.log(`${name} ${kind} ${JSON.stringify(vector)}\n  got ${sorted(got)}`);
  }
}

function prefixes(vector, texts, prefix, { Prefix }) {
  const made = Prefix.shape.fromTexts(texts);
  return { prefix: same(made.text(), new Prefix(made.params).text()) };
}

function build(vector, texts, prefix, keyspace) {
  const made = keyspace.build(vector.definition, texts);
  const key = made.key(prefix);
  const again = new keyspace.definitions[vector.definition](made.params);
  same(key, again.key(prefix));
  return { definition: made.definition, key, slot: made.slot(prefix) };
}

function former(vector, texts, prefix, keyspace) {
  const found = formerly(keyspace.parseFormer(keyBytes(vector)), keyspace);
  if (typeof vector.key === "string") same(sorted(found), sorted(formerly(keyspace.parseFormer(vector.key), keyspace)));
  return { key: vector.key, ...found };
}

function formerly(found, keyspace) {
  if (found === undefined) return { definition: null };
  const { migration, phase, db, definition, key } = found;
  const told = { migration, phase, definition, params: key === undefined ? null : textsOf(key) };
  if (db !== undefined) told.db = db;
  if (keyspace.Prefix !== undefined) told.prefix = found.prefix === undefined ? null : textsOf(found.prefix);
  return told;
}

function names(vector, texts, prefix, keyspace) {
  const made = keyspace.build(vector.definition, texts);
  return { definition: made.definition, ...made.names(prefix) };
}

function keyBytes({ key }) {
  return typeof key === "string" ? new TextEncoder().encode(key) : unhex(key.hex);
}

function parse(vector, texts, prefix, keyspace) {
  const bytes = keyBytes(vector);
  const found = keyspace.parse(bytes);
  if (typeof vector.key === "string") {
    same(JSON.stringify(told(found, keyspace)), JSON.stringify(told(keyspace.parse(vector.key), keyspace)));
    if (found !== undefined) same(vector.key, (found.key.key ? found.key : found).key(found.prefix));
  }
  return { key: vector.key, ...told(found, keyspace) };
}

function told(found, keyspace) {
  if (found === undefined) return { definition: null };
  if (keyspace.Prefix === undefined) return { definition: found.definition, params: textsOf(found) };
  const { prefix, key } = found;
  return { definition: key.definition, prefix: textsOf(prefix), params: textsOf(key) };
}

/** The texts of a typed object's parameters. */
function textsOf(made) {
  const { shape } = made.constructor;
  return Object.fromEntries(shape.params.map(([id, name, type]) => [id, type.text(made.params[name])]));
}

function glob(vector, texts, prefix, keyspace) {
  const bound = keyspace.Prefix === undefined ? [] : [prefix];
  const { shape, glob } = keyspace.definitions[vector.definition];
  const made = keyspace.glob(...bound, vector.definition, texts);
  const typed = shape.params.filter(([id]) => Object.hasOwn(texts, id));
  const params = Object.fromEntries(typed.map(([id, name, type]) => [name, type.of(texts[id])]));
  same(made, glob(...bound, params));
  return { definition: vector.definition, glob: made };
}

function events(vector, texts, prefix, keyspace) {
  const made = keyspace.event(vector.event, texts);
  return { event: made.event, keys: made.keys(prefix), globs: made.globs(prefix) };
}

function named({ definition, event }) {
  if (definition !== undefined) return { definition };
  return event === undefined ? {} : { event };
}

function same(one, other) {
  if (one !== other) throw new Error(`${one} is not ${other}`);
  return one;
}

/** The texts of a vector; `undefined` if a string cannot hold one. */
function texted(params) {
  const texts = {};
  for (const [name, text] of Object.entries(params)) {
    if (text.hex !== undefined) return undefined;
    texts[name] = text.utf16 === undefined ? text : String.fromCharCode(parseInt(text.utf16, 16));
  }
  return texts;
}

function unhex(hex) {
  return Uint8Array.from(hex.match(/../g), (byte) => parseInt(byte, 16));
}

/** JSON whose entries are in order. */
function sorted(value) {
  return JSON.stringify(value, (_, inner) => {
    if (inner === null || typeof inner !== "object" || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
