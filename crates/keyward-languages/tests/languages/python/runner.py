"""Runs golden vectors against generated packages.

    python3 runner.py FOLDER-OF-PACKAGES VECTORS…
"""

import importlib
import json
import pathlib
import pickle
import sys


def main(folder, files):
    sys.path.insert(0, folder)
    checked = failed = 0
    for file in files:
        vectors = json.loads(pathlib.Path(file).read_bytes())
        name = pathlib.Path(file).name.removesuffix(".vectors.json")
        keyspace = importlib.import_module(name.replace("-", "_"))
        checks = Checks(keyspace, vectors["prefix"])
        for kind in ["prefixes", "build", "parse", "glob", "events", "former", "names"]:
            for vector in vectors[kind]:
                params = texts(vector.get("params") or {})
                if params is None:
                    continue
                checked += 1
                expected, got = checks.run(kind, vector, params)
                if expected != got:
                    failed += 1
                    print(f"{name} {kind} {json.dumps(vector)}\n  got {json.dumps(got)}")
    print(f"checked {checked} vectors in {len(files)} keyspaces")
    return 1 if failed else 0


class Checks:
    def __init__(self, keyspace, prefix):
        self.keyspace = keyspace
        # Every call that depends on a prefix takes it first, if there is one.
        self.bound = [keyspace._prefix.from_texts(prefix)] if hasattr(keyspace, "Prefix") else []

    def run(self, kind, vector, params):
        """What was expected, and what came out."""
        expected = {name: value for name, value in vector.items() if name != "params"}
        try:
            got = getattr(self, kind)(vector, params)
        except self.keyspace.KeywardError as error:
            got = {name: vector[name] for name in ["definition", "event"] if name in vector}
            assert error.definition == (vector.get("definition") or vector.get("event") or "prefix")
            got["refused"] = error.param or ""
            if error.reserved_by is not None:
                got["reserved"] = error.reserved_by
        if kind in ["parse", "former"] and "params" in vector:
            expected["params"] = vector["params"]
        return expected, got

    def prefixes(self, vector, params):
        return {"prefix": str(self.keyspace._prefix.from_texts(params))}

    def build(self, vector, params):
        made = self.keyspace.build(vector["definition"], params)
        key = made.key(*self.bound)
        again = pickle.loads(pickle.dumps(made))
        assert again == made and hash(again) == hash(made) and again.key(*self.bound) == key
        return {"definition": made.DEFINITION, "key": key, "slot": made.slot(*self.bound)}

    def parse(self, vector, params):
        key = vector["key"]
        data = key.encode() if isinstance(key, str) else bytes.fromhex(key["hex"])
        found = self.keyspace.parse(data)
        if isinstance(key, str):
            assert found == self.keyspace.parse(key)
        got = {"key": key, "definition": None}
        if found is None:
            return got
        own = found.key if self.bound else found
        if self.bound:
            got["prefix"] = self.keyspace.texts(found.prefix)
        got["definition"] = own.DEFINITION
        got["params"] = self.keyspace.texts(own)
        assert own.key(*([found.prefix] if self.bound else [])) == key
        return got

    def glob(self, vector, params):
        name = vector["definition"]
        made = self.keyspace.glob(*self.bound, name, params)
        shape = next(shape for shape in self.keyspace._keys if shape.name == name)
        typed = {own: of.read(params[id]) for id, own, of in shape.params if id in params}
        assert self.keyspace.DEFINITIONS[name].glob(*self.bound, **typed) == made
        return {"definition": name, "glob": made}

    def former(self, vector, params):
        key = vector["key"]
        data = key.encode() if isinstance(key, str) else bytes.fromhex(key["hex"])
        found = self.keyspace.parse_former(data)
        if isinstance(key, str):
            assert found == self.keyspace.parse_former(key)
        if found is None:
            return {"key": key, "definition": None}
        got = {
            "key": key,
            "migration": found.migration,
            "phase": found.phase,
            "definition": found.definition,
            "params": found.key and self.keyspace.texts(found.key),
        }
        if found.db is not None:
            got["db"] = found.db
        if self.bound:
            got["prefix"] = found.prefix and self.keyspace.texts(found.prefix)
        return got

    def names(self, vector, params):
        made = self.keyspace.build(vector["definition"], params)
        names = made.names(*self.bound)
        return {"definition": made.DEFINITION, "read": list(names.read), "write": list(names.write)}

    def events(self, vector, params):
        made = self.keyspace.event(vector["event"], params)
        return {
            "event": made.EVENT,
            "keys": made.keys(*self.bound),
            "globs": made.globs(*self.bound),
        }


def texts(params):
    """The texts of a vector; `None` if a string cannot hold one."""
    found = {}
    for name, text in params.items():
        if isinstance(text, str):
            found[name] = text
        elif "utf16" in text:
            found[name] = chr(int(text["utf16"], 16))
        else:
            return None
    return found


sys.exit(main(sys.argv[1], sys.argv[2:]))
