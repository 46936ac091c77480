//! The promises of a keyspace, on patterns chosen for each.

use keyward_pattern::prove::{self, Claim, OverlapKind};
use keyward_pattern::{
    DefineErrorKind, DefinitionId, Keyspace, Normalize, Param, Tables, Template, Type,
};

fn keyspace_of(prefix: &str, patterns: &[&str], params: &[(&str, Param)]) -> Keyspace {
    let mut builder = Keyspace::builder(':').unwrap();
    let resolve = |name: &str| params.iter().find(|(own, _)| *own == name).map(|(_, p)| p.clone());
    if !prefix.is_empty() {
        builder.prefix(&Template::parse(prefix).unwrap(), resolve);
    }
    for (number, pattern) in patterns.iter().enumerate() {
        builder.define(&format!("d{number}"), &Template::parse(pattern).unwrap(), resolve);
    }
    builder.finish().unwrap_or_else(|errors| panic!("{}", errors[0]))
}

fn keyspace(patterns: &[&str]) -> Keyspace {
    keyspace_of("", patterns, &[])
}

/// Each overlap as `first second witness kind`.
fn overlaps(keyspace: &Keyspace) -> Vec<String> {
    let found = prove::overlaps(keyspace);
    assert!(found.complete);
    let claim = |claim: Claim| match claim {
        Claim::Definition(id) => format!("d{}", id.0),
        Claim::Derived(id) => format!("~d{}", id.0),
    };
    let show = |overlap: &prove::Overlap| {
        let kind = match &overlap.kind {
            OverlapKind::Conflict => "conflict".to_owned(),
            OverlapKind::Reserved { hole, word } => {
                format!("reserved {hole} {}", word.as_deref().unwrap_or("-"))
            }
            _ => unreachable!(),
        };
        format!("{} {} {} {kind}", claim(overlap.first), claim(overlap.second), overlap.witness)
    };
    found.overlaps.iter().map(show).collect()
}

fn class(keyspace: &Keyspace, key: &str) -> Option<u32> {
    keyspace.classify(key.as_bytes()).map(|id| id.0)
}

#[test]
fn a_key_belongs_to_the_definition_that_parses_it() {
    let keyspace = keyspace(&["folder:{id:uuid}:listing", "file:{id:uint}:meta", "rl:{name}"]);
    assert_eq!(class(&keyspace, "folder:550e8400-e29b-41d4-a716-446655440000:listing"), Some(0));
    assert_eq!(class(&keyspace, "folder:550E8400-e29b-41d4-a716-446655440000:listing"), None);
    assert_eq!(class(&keyspace, "file:18446744073709551615:meta"), Some(1));
    assert_eq!(class(&keyspace, "file:18446744073709551616:meta"), None);
    assert_eq!(class(&keyspace, "rl:ünïcode"), Some(2));
    assert_eq!(class(&keyspace, "rl:"), None);
    assert_eq!(class(&keyspace, "rl:a:b"), None);
    assert_eq!(class(&keyspace, ""), None);
}

#[test]
fn a_more_specific_pattern_reserves_its_word() {
    let keyspace = keyspace(&["m:{symbol}", "m:active"]);
    assert_eq!(overlaps(&keyspace), ["d1 d0 m:active reserved symbol active"]);
    assert_eq!(class(&keyspace, "m:active"), Some(1));
    assert_eq!(class(&keyspace, "m:btc"), Some(0));
    let symbol = keyspace.definition(DefinitionId(0));
    assert_eq!(
        symbol.build(&["active".into()]).unwrap_err().to_string(),
        "`d0` cannot have this key: it belongs to `d1`"
    );
    assert!(symbol.parse(b"m:active").is_none());
}

/// What two definitions meet at is the shortest key of both patterns, whoever has it.
#[test]
fn a_reserved_key_may_belong_to_a_third_definition() {
    let keyspace = keyspace(&["x:{id}", "x:{n:uint}", "x:0"]);
    assert_eq!(class(&keyspace, "x:0"), Some(2));
    assert_eq!(class(&keyspace, "x:1"), Some(1));
    assert_eq!(class(&keyspace, "x:a"), Some(0));
    let found = prove::overlaps(&keyspace).overlaps;
    let of = |first: u32, second: u32| {
        let claims =
            (Claim::Definition(DefinitionId(first)), Claim::Definition(DefinitionId(second)));
        let found = found.iter().find(|it| (it.first, it.second) == claims).unwrap();
        assert!(matches!(found.kind, OverlapKind::Reserved { .. }));
        found.witness.as_str()
    };
    assert_eq!([of(1, 0), of(2, 0), of(2, 1)], ["x:0"; 3]);
}

#[test]
fn a_narrower_type_is_more_specific() {
    let keyspace = keyspace(&["a:{x}:z", "a:{x:uuid}:z", "a:{x:hex(4)}:z"]);
    assert_eq!(
        overlaps(&keyspace),
        [
            "d1 d0 a:aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:z reserved x -",
            "d2 d0 a:aaaa:z reserved x -",
        ]
    );
    assert_eq!(class(&keyspace, "a:beef:z"), Some(2));
    assert_eq!(class(&keyspace, "a:beeg:z"), Some(0));
}

#[test]
fn crossing_patterns_conflict_at_a_shortest_key() {
    assert_eq!(overlaps(&keyspace(&["a:{x}:b", "a:c:{y}"])), ["d0 d1 a:c:b conflict"]);
    assert_eq!(overlaps(&keyspace(&["a:{x}", "a:{y}"])), ["d0 d1 a:a conflict"]);
    assert_eq!(overlaps(&keyspace(&["a:{x:int}", "a:{y:hex}"])), ["d0 d1 a:0 conflict"]);
    assert_eq!(overlaps(&keyspace(&["a:{x:slug}:c", "a:{y:word}:c"])), ["d0 d1 a:a:c conflict"]);
    assert_eq!(overlaps(&keyspace(&["a:{x:uuid}", "a:{y:uint}"])), [""; 0]);
}

#[test]
fn a_parameter_that_takes_the_rest_meets_longer_keys() {
    let keyspace = keyspace(&["lock:{rest...}", "lock:a:{id:uint}", "lock", "other:x"]);
    assert_eq!(overlaps(&keyspace), ["d1 d0 lock:a:0 reserved rest a"]);
    assert_eq!(class(&keyspace, "lock:snippet:550e"), Some(0));
    assert_eq!(class(&keyspace, "lock:a:7"), Some(1));
    assert_eq!(class(&keyspace, "lock:a:x"), Some(0));
    assert_eq!(class(&keyspace, "lock"), Some(2));
    assert_eq!(overlaps(&self::keyspace(&["x:{rest...}", "{a}:b:c"])), ["d0 d1 x:b:c conflict"]);
    assert_eq!(overlaps(&self::keyspace(&["x:{r...}", "x:{s...}"])), ["d0 d1 x:a conflict"]);
    assert_eq!(
        overlaps(&self::keyspace(&["x:{r...}", "x:y-{s...}"])),
        ["d1 d0 x:y-a reserved r -"]
    );
}

#[test]
fn prefix_bindings_do_not_meet_unless_the_prefix_leaks() {
    assert_eq!(overlaps(&keyspace_of("{tenant:slug}:", &["a:{x}", "b"], &[])), [""; 0]);
    // Tenant `a` with the key `b:c` is tenant `a:b`'s `c` in no reading: segments are counted.
    assert_eq!(overlaps(&keyspace_of("{tenant:slug}:", &["{x}", "{x}:{y}"], &[])), [""; 0]);
    let leaking = keyspace_of("{tenant:slug}-", &["{x}:a"], &[]);
    let ambiguity = &prove::ambiguities(&leaking)[0];
    assert_eq!(ambiguity.witness, "a-a-a");
    assert_eq!(
        (ambiguity.left.join(" "), ambiguity.right.join(" ")),
        ("a a-a".into(), "a-a a".into())
    );
}

#[test]
fn a_bound_prefix_is_part_of_every_key() {
    let keyspace = keyspace_of("{tenant:slug}:", &["a:{x}"], &[]);
    assert_eq!(keyspace.definition(DefinitionId(0)).params().len(), 2);
    let acme = keyspace.bind(&[("tenant", "acme")]).unwrap();
    assert_eq!(acme.definition(DefinitionId(0)).build(&["1".into()]).unwrap(), "acme:a:1");
    assert_eq!(class(&acme, "other:a:1"), None);
    let refused = keyspace.bind(&[("tenant", "ac:me")]).unwrap_err();
    assert!(refused.to_string().contains("it contains the separator `:`"), "{refused}");
}

#[test]
fn several_parameters_in_a_segment_are_told_apart_or_reported() {
    let keyspace = keyspace(&["v:{a:uint}-{b:uint}", "w:{a:uuid}-{b}", "x:{a:slug}_{b:slug}_z"]);
    assert!(prove::ambiguities(&keyspace).is_empty());
    let values = keyspace.parse(b"v:12-345").unwrap().values;
    assert_eq!(values, ["12", "345"]);
    let values = keyspace.parse(b"w:550e8400-e29b-41d4-a716-446655440000-a-b").unwrap().values;
    assert_eq!(values, ["550e8400-e29b-41d4-a716-446655440000", "a-b"]);
    assert_eq!(keyspace.parse(b"x:a-b_c_z").unwrap().values, ["a-b", "c"]);

    let doubtful = self::keyspace(&["v:{a}-{b}", "w:{a:word}{b:uint}"]);
    let found = prove::ambiguities(&doubtful);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].witness, "a--a");
    assert_eq!(found[1].witness, "a10");
    assert_ne!(found[1].left, found[1].right);
}

#[test]
fn a_key_parameter_takes_a_whole_key_of_another_definition() {
    let key =
        |names: &[&str]| Param::from(Type::Key(names.iter().map(ToString::to_string).collect()));
    let keyspace = keyspace_of(
        "lib:",
        &["doc:{id:word}:{n:digits(3)}", "ch:{id:word}", "{parent}:children"],
        &[("parent", key(&["d0", "d1"]))],
    );
    let children = keyspace.definition(DefinitionId(2));
    assert_eq!(children.build(&["doc:guide:001".into()]).unwrap(), "lib:doc:guide:001:children");
    assert_eq!(children.build(&["ch:risk".into()]).unwrap(), "lib:ch:risk:children");
    assert!(children.build(&["para:risk".into()]).is_err());
    assert_eq!(children.parse(b"lib:doc:guide:001:children").unwrap(), ["doc:guide:001"]);
    assert_eq!(class(&keyspace, "lib:doc:guide:001:children"), Some(2));
    assert_eq!(class(&keyspace, "lib:doc:guide:1:children"), None);
    assert_eq!(children.glob(&[None]).unwrap(), "lib:*:children");
}

#[test]
fn two_readings_of_a_key_parameter_are_reported() {
    let parent = Param::from(Type::Key(vec!["d0".to_owned(), "d1".to_owned()]));
    let patterns = ["x:{i:uint}", "x:{i:uint}:{j:uint}", "{parent}:{rest...}"];
    let keyspace = keyspace_of("", &patterns, &[("parent", parent)]);
    let found = prove::ambiguities(&keyspace);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].witness, "x:0:0:a");
    assert_eq!(found[0].left, ["x:0", "0:a"]);
    assert_eq!(found[0].right, ["x:0:0", "a"]);
}

#[test]
fn a_lossy_encoding_is_shown_with_two_values_that_meet() {
    let path = Param {
        ty: Type::Text,
        normalize: None,
        encode: vec![('/', "_".into())],
        except: Vec::new(),
        without: String::new(),
    };
    let keyspace = keyspace_of("", &["page:{path}"], &[("path", path)]);
    let lossy = prove::lossy(&keyspace);
    assert_eq!((&*lossy[0].left, &*lossy[0].right, &*lossy[0].spelling), ("/", "_", "_"));

    let lossless = |encode: &[(char, &str)], ty: Type| {
        let encode = encode.iter().map(|(c, s)| (*c, (*s).to_owned())).collect();
        let path =
            Param { ty, normalize: None, encode, except: Vec::new(), without: String::new() };
        prove::lossy(&keyspace_of("", &["page:{path}"], &[("path", path)])).is_empty()
    };
    assert!(lossless(&[('/', "_")], Type::Regex("/[a-z/-]*".into())));
    assert!(lossless(&[('/', "~1"), ('~', "~0")], Type::Text));
    assert!(!lossless(&[('/', "__"), ('_', "_")], Type::Text));
    assert!(lossless(&[('a', "b"), ('b', "a")], Type::Text));
    // a → xy, b → x, c → y: `a` and `bc` meet although no two replacements do.
    assert!(!lossless(&[('a', "xy"), ('b', "x"), ('c', "y")], Type::Regex("[abc]+".into())));
}

#[test]
fn an_injective_encoding_is_undone_by_parsing() {
    let path = Param {
        ty: Type::Text,
        normalize: None,
        encode: vec![('/', "~1".into()), ('~', "~0".into())],
        except: Vec::new(),
        without: String::new(),
    };
    let keyspace = keyspace_of("", &["page:{path}:x"], &[("path", path)]);
    let page = keyspace.definition(DefinitionId(0));
    for value in ["/about", "~/x~1/", "/", "plain", "/ü/"] {
        let key = page.build(&[value.into()]).unwrap();
        assert!(!key.contains('/'));
        assert_eq!(page.parse(key.as_bytes()).unwrap(), [value]);
    }
    assert_eq!(class(&keyspace, "page:~2:x"), None);
    assert_eq!(class(&keyspace, "page:/:x"), None);
}

#[test]
fn encoded_holds_any_string_in_one_spelling() {
    let keyspace = keyspace(&["p:{path:encoded}:x"]);
    let page = keyspace.definition(DefinitionId(0));
    let key = page.build(&["/a:b {*}\n%ü".into()]).unwrap();
    assert_eq!(key, "p:%2Fa%3Ab%20%7B%2A%7D%0A%25%C3%BC:x");
    assert_eq!(page.parse(key.as_bytes()).unwrap(), ["/a:b {*}\n%ü"]);
    // Another spelling of the same, a bare byte that must be escaped, broken UTF-8.
    for other in ["p:%2fa:x", "p:%41:x", "p:*:x", "p:%FF:x", "p:%C3:x", "p:%ED%A0%80:x", "p:%2:x"] {
        assert_eq!(class(&keyspace, other), None, "{other}");
    }
}

#[test]
fn lower_case_is_part_of_the_language() {
    let word = Param {
        ty: Type::Text,
        normalize: Some(Normalize::Lower),
        encode: Vec::new(),
        except: Vec::new(),
        without: String::new(),
    };
    let keyspace = keyspace_of("", &["word:{word}"], &[("word", word)]);
    let index = keyspace.definition(DefinitionId(0));
    assert_eq!(index.build(&["ÄPFEL Straße".into()]).unwrap(), "word:äpfel straße");
    assert_eq!(class(&keyspace, "word:äpfel"), Some(0));
    assert_eq!(class(&keyspace, "word:Äpfel"), None);
    assert_eq!(class(&keyspace, "word:Apfel"), None);
}

#[test]
fn an_address_or_a_uuid_in_another_form_is_written_in_its_own() {
    let client = Param::from(Type::Any(vec![Type::Uuid, Type::Ip]));
    let word = Type::Enum(vec!["::1".to_owned()]);
    let either = Param::from(Type::Any(vec![Type::Ip, word]));
    let encoded = Param { encode: vec![('.', "_".to_owned())], ..Type::Ip.into() };
    let refusing = Param { except: vec!["1.2.3.4".to_owned()], ..Type::Ip.into() };
    let params =
        [("client", client), ("either", either), ("encoded", encoded), ("refusing", refusing)];
    let mut builder = Keyspace::builder('/').unwrap();
    for (name, param) in &params {
        let template = Template::parse(&format!("{name}/{{{name}}}")).unwrap();
        builder.define(name, &template, |_| Some(param.clone()));
    }
    let keyspace = builder.finish().unwrap();
    let build = |name: &str, value: &str| {
        let definition = keyspace.definition(keyspace.find(name).unwrap());
        definition.build(&[value.into()]).ok()
    };
    let digits = "client/20010db8000000000000000000000001";
    assert_eq!(build("client", "2001:db8::1").as_deref(), Some(digits));
    assert_eq!(build("client", "::ffff:1.2.3.4").as_deref(), Some("client/1.2.3.4"));
    let uuid = "client/550e8400-e29b-41d4-a716-446655440000";
    assert_eq!(build("client", "550E8400-E29B-41D4-A716-446655440000").as_deref(), Some(uuid));
    assert_eq!(build("client", "20010DB8000000000000000000000001"), None);
    // A word that looks like an address is the word.
    assert_eq!(build("either", "::1").as_deref(), Some("either/::1"));
    assert_eq!(build("encoded", "::ffff:1.2.3.4").as_deref(), Some("encoded/1_2_3_4"));
    assert_eq!(build("refusing", "::ffff:1.2.3.4"), None);
    assert_eq!(keyspace.classify(b"client/2001:db8::1"), None);
}

#[test]
fn no_value_can_choose_a_slot_or_act_as_a_glob() {
    let keyspace = keyspace(&["cart:{#user}:{note}"]);
    let cart = keyspace.definition(DefinitionId(0));
    for hostile in ["", ":", "{", "}", "{x}", "\0", "\n", "\u{7f}", "\u{85}"] {
        assert!(cart.build(&["42".into(), hostile.into()]).is_err(), "{hostile:?}");
        assert!(cart.build(&[hostile.into(), "a".into()]).is_err(), "{hostile:?}");
    }
    let glob = cart.glob(&[Some("4*[2]?\\".into()), None]).unwrap();
    assert_eq!(glob, "cart:{4\\*\\[2\\]\\?\\\\}:*");
    assert_eq!(keyspace.classify(b"cart:{\xff}:x"), None);
}

#[test]
fn derived_keys_meet_no_definition_unless_one_takes_their_form() {
    let plain = ["{name}", "cart:{#id}", "cart:{#id}:{item}", "cart:{#id}:{rest...}"];
    assert_eq!(overlaps(&keyspace(&plain[..3])), [""; 0]);
    assert_eq!(overlaps(&keyspace(&["cart:{#id}:{rest...}"])), [""; 0]);
    assert_eq!(
        overlaps(&keyspace(&["cart:{#id}", "cart:{#id}~{#word}"])),
        ["d1 ~d0 cart:{a}~{a} conflict"]
    );
    assert_eq!(overlaps(&keyspace(&["{name}", "~lease:{#id}"])), ["d1 ~d0 ~lease:{a} conflict"]);
    let prefixed = keyspace_of("{tenant:slug}:", &["{name}", "~lease:{{{rest...}"], &[]);
    assert_eq!(overlaps(&prefixed), [""; 0]);
}

#[test]
fn a_thousand_tagged_patterns_are_compared_in_time() {
    let patterns: Vec<String> = (0..1_000).map(|n| format!("e{n}:{{#p}}:{{q}}")).collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    assert_eq!(overlaps(&keyspace(&patterns)), [""; 0]);
}

#[test]
fn keyspaces_with_other_separators_are_compared_whole() {
    let ours = keyspace(&["a:{x:uint}", "b:{x}"]);
    let mut builder = Keyspace::builder('/').unwrap();
    builder.define("path", &Template::parse("a:{y}").unwrap(), |_| None);
    let theirs = builder.finish().unwrap();
    let found = prove::overlaps_between(&ours, &theirs);
    assert!(found.complete);
    assert_eq!(found.overlaps.len(), 1);
    assert_eq!(found.overlaps[0].witness, "a:0");
}

#[test]
fn foreign_globs_are_checked_against_every_definition() {
    let keyspace = keyspace(&["session:{id:hex}", "bull:{queue}:wait"]);
    assert_eq!(prove::glob_overlaps(&keyspace, "spring:*"), []);
    assert_eq!(
        prove::glob_overlaps(&keyspace, "bull:*"),
        [(DefinitionId(1), "bull:a:wait".into())]
    );
    assert_eq!(
        prove::glob_overlaps(&keyspace, "[a-s]ession:?f"),
        [(DefinitionId(0), "session:af".into())]
    );
    assert_eq!(prove::glob_overlaps(&keyspace, "session:\\*"), []);
    assert_eq!(prove::glob_overlaps(&keyspace, "*:[^0-9a-f]"), []);
}

#[test]
fn keyspaces_are_compared_with_each_other() {
    let ours = keyspace(&["a:{x:uint}", "b"]);
    let theirs = keyspace(&["{y}:7", "c"]);
    let found = prove::overlaps_between(&ours, &theirs).overlaps;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].witness, "a:7");
}

#[test]
fn ten_thousand_overlapping_patterns_end_in_time() {
    let crossing: Vec<String> =
        (0..5_000).flat_map(|n| [format!("a:w{n}:{{x}}"), format!("a:{{y}}:v{n}")]).collect();
    let crossing: Vec<&str> = crossing.iter().map(String::as_str).collect();
    let found = prove::overlaps(&keyspace(&crossing));
    assert!(!found.complete);
    assert_eq!(found.overlaps.len(), 1_000);

    let equal = vec!["a:{x}:b"; 10_000];
    let found = prove::overlaps(&keyspace(&equal));
    assert!(!found.complete);
    assert_eq!(found.overlaps.len(), 1_000);
    assert_eq!(overlaps(&keyspace(&["a:{x}", "a:{y}", "a:{z}"])).len(), 3);
}

#[test]
fn a_regular_expression_that_explodes_is_refused() {
    let refused = |regex: &str| {
        let mut builder = Keyspace::builder(':').unwrap();
        let param = Param::from(Type::Regex(regex.to_owned()));
        builder.define("d", &Template::parse("a:{x}").unwrap(), |_| Some(param.clone()));
        builder.finish().unwrap_err()[0].to_string()
    };
    let large = "`x` has an unusable type: the type needs more than 4096 states";
    assert_eq!(refused("(a|b)*a(a|b){20}"), large);
    assert_eq!(refused("((a{1,100}){1,100}){1,100}"), large);
    assert_eq!(refused("[ab]{5000}"), large);
    assert!(refused("a*").ends_with("the empty string would be a value"));
    assert!(refused("a:b").ends_with("a value could contain the separator `:`"));
    assert!(refused("[^x]").contains("goes beyond ASCII"));
    assert!(refused(".+").contains("goes beyond ASCII"), "{}", refused(".+"));
    assert!(refused("^a$").contains("leave out `^`"));
    assert!(refused("a(").contains("not a regular expression"));
    assert!(refused("\\{[a-z]").contains("choose its hash slot"));
}

fn key_of(names: &[&str]) -> Param {
    Type::Key(names.iter().map(ToString::to_string).collect()).into()
}

#[test]
fn one_crossing_path_makes_two_definitions_conflict() {
    for patterns in [
        ["foo:{n:uint}", "{w}:bar", "x:{k}", "x:{a:word}:{b}"],
        ["{w}:bar", "foo:{n:uint}", "x:{k}", "x:{a:word}:{b}"],
    ] {
        let keyspace = keyspace_of("", &patterns, &[("k", key_of(&["d0", "d1"]))]);
        let found = overlaps(&keyspace);
        let crossing = found.iter().filter(|overlap| overlap.starts_with("d2 d3"));
        assert_eq!(crossing.collect::<Vec<_>>(), ["d2 d3 x:a:bar conflict"], "{found:?}");
    }
}

#[test]
fn derived_keys_of_a_tag_inside_a_key_parameter_are_seen() {
    let patterns = ["cart:{#u}", "x:{k}", "x:cart:{#v}~{{lease}}"];
    let keyspace = keyspace_of("", &patterns, &[("k", key_of(&["d0"]))]);
    assert_eq!(overlaps(&keyspace), ["d2 ~d1 x:cart:{a}~{lease} conflict"]);
}

#[test]
fn a_long_prefix_value_is_still_a_prefix() {
    let long = "x".repeat(5_000);
    let keyspace = keyspace_of("{tenant}:", &["doc:{p}"], &[]);
    let bound = keyspace.bind(&[("tenant", &long)]).unwrap();
    let key = bound.definition(DefinitionId(0)).build(&["1".into()]).unwrap();
    assert_eq!(key, format!("{long}:doc:1"));
    assert!(keyspace.bind(&[]).is_err());
}

#[test]
fn an_encoding_that_cannot_be_decided_is_not_called_sound() {
    let encode = |regex: &str| {
        let ty = Type::Regex(regex.to_owned());
        let param = Param {
            ty,
            normalize: None,
            encode: vec![('c', "aa".to_owned())],
            except: Vec::new(),
            without: String::new(),
        };
        prove::lossy(&keyspace_of("", &["p:{x}"], &[("x", param)]))
    };
    assert_eq!(encode("[ac]{15}").len(), 1);
    assert_eq!(encode("[ac]{1500}")[0].spelling, "");
}

#[test]
fn encode_admits_what_it_takes_out() {
    let encode = |entries: &[(char, &str)]| Param {
        ty: Type::Text,
        normalize: None,
        encode: entries.iter().map(|(c, s)| (*c, (*s).to_owned())).collect(),
        except: Vec::new(),
        without: String::new(),
    };
    let param = encode(&[(':', "%3A"), ('%', "%25"), ('{', "%7B")]);
    let keyspace = keyspace_of("", &["p:{x}"], &[("x", param)]);
    let page = keyspace.definition(DefinitionId(0));
    let key = page.build(&["b:c%d{".into()]).unwrap();
    assert_eq!(key, "p:b%3Ac%25d%7B");
    assert_eq!(page.parse(key.as_bytes()).unwrap(), ["b:c%d{"]);
    assert!(page.build(&["}".into()]).is_err());

    let mut builder = Keyspace::builder(':').unwrap();
    let useless = Param {
        ty: Type::Uint,
        normalize: None,
        encode: vec![('/', "_".to_owned())],
        except: Vec::new(),
        without: String::new(),
    };
    builder.define("d", &Template::parse("a:{x}").unwrap(), |_| Some(useless.clone()));
    let error = builder.finish().unwrap_err()[0].to_string();
    assert!(error.ends_with("no value contains `/`, so encoding it has no effect"), "{error}");
}

#[test]
fn lower_case_reaches_into_unions_and_refuses_words_with_capitals() {
    let lower = |ty| Param {
        ty,
        normalize: Some(Normalize::Lower),
        encode: Vec::new(),
        except: Vec::new(),
        without: String::new(),
    };
    let words = |words: &[&str]| Type::Enum(words.iter().map(ToString::to_string).collect());
    let union = lower(Type::Any(vec![words(&["É", "zz"]), Type::Uint]));
    let keyspace = keyspace_of("", &["d:{x}"], &[("x", union)]);
    assert_eq!(class(&keyspace, "d:É"), None);
    assert_eq!(class(&keyspace, "d:zz"), Some(0));

    let mut builder = Keyspace::builder(':').unwrap();
    let param = lower(words(&["Foo", "bar"]));
    builder.define("d", &Template::parse("a:{x}").unwrap(), |_| Some(param.clone()));
    assert!(builder.finish().unwrap_err()[0].to_string().contains("`Foo` has upper-case letters"));
}

#[test]
fn many_patterns_that_take_the_rest_are_compared_in_time() {
    let patterns: Vec<String> = (0..1_000).map(|n| format!("a{n}-{{x...}}")).collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    assert_eq!(overlaps(&keyspace(&patterns)), [""; 0]);
}

#[test]
fn a_long_loop_is_minimised_in_time() {
    let regexes: Vec<Param> =
        (0..10).map(|n| Type::Regex(format!("(a{{{}}}b)*c", 4_000 - n)).into()).collect();
    let names: Vec<String> = (0..10).map(|n| format!("p{n}")).collect();
    let params: Vec<(&str, Param)> =
        names.iter().map(String::as_str).zip(regexes.iter().cloned()).collect();
    let patterns: Vec<String> = names.iter().map(|name| format!("{name}:{{{name}}}")).collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    let keyspace = keyspace_of("", &patterns, &params);
    assert_eq!(class(&keyspace, "p0:c"), Some(0));
}

#[test]
fn a_reserved_key_is_no_key_of_the_wider_definition_anywhere() {
    let keyspace = keyspace_of(
        "{tenant:slug}:",
        &["cache:{symbol}", "cache:active", "x:{k}"],
        &[("k", key_of(&["d0"]))],
    );
    let x = keyspace.definition(DefinitionId(2));
    assert_eq!(x.build(&["t".into(), "cache:btc".into()]).unwrap(), "t:x:cache:btc");
    assert!(x.build(&["t".into(), "cache:active".into()]).is_err());
    assert_eq!(class(&keyspace, "t:x:cache:active"), None);
    assert!(x.parse(b"t:x:cache:active").is_none());
}

#[test]
fn a_sample_is_a_value_of_its_type() {
    let mut seed = 7usize;
    for ty in Type::NAMES {
        let pattern = format!("k:{{p:{}}}", ty.replace("(n)", "(9)"));
        let mut builder = Keyspace::builder(':').unwrap();
        let id = builder.define("d", &Template::parse(&pattern).unwrap(), |_| None);
        let keyspace = builder.finish().unwrap();
        for len in [0, 1, 5, 40] {
            let mut choose = |ways: usize| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 33) % ways
            };
            let sample = keyspace.definition(id).sample(0, len, &mut choose).unwrap();
            let built = keyspace.definition(id).build_named(&[("p", &sample)]);
            assert!(built.is_ok(), "{ty}: {sample:?} {built:?}");
        }
    }
}

#[test]
fn a_key_that_would_be_too_long_is_neither_built_nor_read() {
    let mut builder = Keyspace::builder(':').unwrap();
    builder.prefix(&Template::parse("s:").unwrap(), |_| None);
    builder.define("search", &Template::parse("search:{query}").unwrap(), |_| None);
    builder.define("user", &Template::parse("user:{id:uint}").unwrap(), |_| None);
    builder.max_len(30);
    let keyspace = builder.finish().unwrap();
    let search = keyspace.definition(DefinitionId(0));
    assert!(search.is_partial() && !keyspace.definition(DefinitionId(1)).is_partial());
    let longest = "x".repeat(21);
    let key = search.build_named(&[("query", &longest)]).unwrap();
    assert_eq!((key.len(), class(&keyspace, &key)), (30, Some(0)));
    let refused = search.build_named(&[("query", &format!("{longest}x"))]).unwrap_err();
    assert_eq!(refused.to_string(), "the key of `search` would have 31 bytes, and the limit is 30");
    assert_eq!(class(&keyspace, &format!("{key}x")), None);

    let tables = Tables::read(&keyspace.export(&[], &[]).unwrap().block).unwrap();
    assert!(tables.find(key.as_bytes()).is_some());
    assert!(tables.find(format!("{key}x").as_bytes()).is_none());
    assert!(tables.find_bare(&key.as_bytes()[2..]).is_some());
    assert!(tables.find_bare(format!("{}x", &key[2..]).as_bytes()).is_none());
    assert_eq!(tables.max_bare_len(), Some(28));
}

#[test]
fn room_is_kept_for_the_longest_prefix_however_it_is_bound() {
    let mut builder = Keyspace::builder(':').unwrap();
    builder.prefix(&Template::parse("{tenant:digits(4)}:").unwrap(), |_| None);
    builder.define("search", &Template::parse("search:{query}").unwrap(), |_| None);
    builder.max_len(20);
    let keyspace = builder.finish().unwrap();
    for keyspace in [keyspace.bind(&[("tenant", "0001")]).unwrap(), keyspace] {
        assert_eq!(keyspace.max_bare_len(), Some(15));
    }
}

#[test]
fn an_excepted_word_is_no_value_and_leaves_its_key_to_others() {
    let mut symbol = Param::from(Type::Text);
    symbol.refuse("active", ':');
    let keyspace = keyspace_of("", &["symbol:{symbol}", "symbol:active"], &[("symbol", symbol)]);
    assert_eq!(overlaps(&keyspace), [""; 0]);
    assert!(!keyspace.definition(DefinitionId(0)).is_partial());
    assert_eq!(class(&keyspace, "symbol:active"), Some(1));
    let refused =
        keyspace.definition(DefinitionId(0)).build_named(&[("symbol", "active")]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`active` is not a value for `symbol` (text): it is a reserved word"
    );
}

#[test]
fn what_takes_several_segments_may_stand_anywhere() {
    let keyspace = keyspace_of(
        "app:",
        &["bull:{queue...}:wait", "bull:{queue...}:{n:uint}", "{#path...}:meta", "bull:x:wait"],
        &[],
    );
    let built = |number: u32, values: &[&str]| {
        let values: Vec<_> = values.iter().map(|value| (*value).into()).collect();
        keyspace.definition(DefinitionId(number)).build(&values)
    };
    assert_eq!(built(0, &["mail:eu"]).unwrap(), "app:bull:mail:eu:wait");
    assert_eq!(built(1, &["a:1:2", "3"]).unwrap(), "app:bull:a:1:2:3");
    assert_eq!(built(2, &["a:b"]).unwrap(), "app:{a:b}:meta");
    let parsed = keyspace.parse(b"app:bull:a:1:2:3").unwrap();
    assert_eq!(
        (parsed.definition, parsed.values),
        (DefinitionId(1), vec!["a:1:2".into(), "3".into()])
    );
    let parsed = keyspace.parse(b"app:{a:b}:meta").unwrap();
    assert_eq!(parsed.values, ["a:b"]);
    assert_eq!(class(&keyspace, "app:bull::wait"), None);
    // The narrower pattern has its word, and the wider one refuses it.
    assert_eq!(class(&keyspace, "app:bull:x:wait"), Some(3));
    assert!(built(0, &["x"]).is_err());
    assert!(prove::ambiguities(&keyspace).is_empty());
    let glob = keyspace.definition(DefinitionId(1)).glob_named(&[("n", "7")]).unwrap();
    assert_eq!(glob, "app:bull:*:7");

    let two = keyspace_of("", &["{a...}:{b...}"], &[]);
    let found = prove::ambiguities(&two);
    assert_eq!(found[0].witness.matches(':').count(), 2);
    assert!(
        !prove::overlaps(&keyspace_of("", &["a:{x...}:b", "{y...}:c:b"], &[])).overlaps.is_empty()
    );
    assert!(
        prove::overlaps(&keyspace_of("", &["a:{x...}:b", "{y...}:c"], &[])).overlaps.is_empty()
    );
}

#[test]
fn a_raw_address_spans_segments() {
    let window = Param::from(Type::Enum(vec!["1m".to_owned(), "1h".to_owned()]));
    let keyspace = keyspace_of("", &["rl:{client:raw_ip}:{window}"], &[("window", window)]);
    let limit = keyspace.definition(DefinitionId(0));
    for address in ["192.0.2.1", "2001:db8::1", "::", "::1", "1::", "::ffff:192.0.2.1"] {
        let key = format!("rl:{address}:1m");
        assert_eq!(limit.build(&[address.into(), "1m".into()]).unwrap(), key);
        assert_eq!(limit.parse(key.as_bytes()).unwrap(), [address, "1m"]);
    }
    assert!(limit.build(&["fe80::1%eth0".into(), "1m".into()]).is_err());
    for other in ["2001:DB8::1", "2001:db8:0:0:0:0:0:1", "1:2:3:4:5:6:7::", "::ffff:c000:201"] {
        let key = limit.build(&[other.into(), "1m".into()]).unwrap();
        assert_eq!(class(&keyspace, &key), Some(0), "{key}");
        assert_eq!(class(&keyspace, &format!("rl:{other}:1m")), None, "{other}");
    }
    assert!(prove::ambiguities(&keyspace).is_empty());
    let one = self::keyspace(&["rl:{client:raw_ip}:{n:uint}"]);
    assert!(prove::ambiguities(&one).is_empty());
    assert_eq!(one.parse(b"rl:::1:2").unwrap().values, ["::1", "2"]);
    assert!(!prove::ambiguities(&self::keyspace(&["rl:{client:raw_ip}:{path...}"])).is_empty());
    // A separator that no address has leaves it in one segment.
    let mut builder = Keyspace::builder('/').unwrap();
    builder.define("d", &Template::parse("rl/{client:raw_ip}/{n:uint}").unwrap(), |_| None);
    let slashed = builder.finish().unwrap();
    assert!(prove::ambiguities(&slashed).is_empty());
    assert_eq!(slashed.parse(b"rl/::1/7").unwrap().values, ["::1", "7"]);
    let mut builder = Keyspace::builder(':').unwrap();
    builder.prefix(&Template::parse("{client:raw_ip}:").unwrap(), |_| None);
    builder.define("d", &Template::parse("a").unwrap(), |_| None);
    assert_eq!(builder.finish().unwrap_err()[0].kind, DefineErrorKind::Prefix);
}
