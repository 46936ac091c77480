//! What a person reads when a schema is wrong.

use keyward_schema::{Style, concise, load, read, render};
use std::fs;
use std::path::Path;

const HEAD: &str = "version = 1\n\n[keyspace]\nname = \"shop\"\n\n";

/// The errors of a schema that has a good head.
fn errors(body: &str) -> String {
    errors_of(&format!("{HEAD}{body}"))
}

fn errors_of(text: &str) -> String {
    let loaded = read(text);
    match loaded.schema {
        Ok(_) => "no errors".to_owned(),
        Err(errors) => render(&loaded.sources, &errors, &Style::default()),
    }
}

/// The errors of several files; the first is the root.
fn errors_of_files(files: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    shown(folder.path(), &folder.path().join(files[0].0))
}

fn shown(folder: &Path, path: &Path) -> String {
    let loaded = load(path);
    match loaded.schema {
        Ok(_) => "no errors".to_owned(),
        Err(errors) => render(&loaded.sources, &errors, &Style { color: false, width: 200 })
            .replace(&format!("{}/", folder.display()), "")
            .replace(&folder.display().to_string(), "FOLDER"),
    }
}

fn snapshot(name: &str, text: &str) {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

macro_rules! shows {
    ($name:ident, $text:expr) => {
        #[test]
        fn $name() {
            snapshot(stringify!($name), &$text);
        }
    };
}

shows!(
    an_unknown_field_names_the_nearest,
    errors("[keys.cart]\npatern = \"cart:{user_id}\"\nttl = \"1h\"\n")
);
shows!(an_unknown_field_that_is_near_to_none_lists_them, errors("[alerts]\ncolour = \"red\"\n"));
shows!(an_unknown_table_names_the_nearest, errors("[key.cart]\npattern = \"cart\"\n"));
shows!(
    a_value_of_the_wrong_kind_says_what_was_expected,
    errors(
        "[keys.cart]\npattern = \"cart\"\nttl = 60\nsliding = \"yes\"\nfields = [\"a\"]\nmax_len = 0\n"
    )
);
shows!(
    a_bad_duration_is_marked_inside_its_range,
    errors("[keys.cart]\npattern = \"cart\"\nttl = \"1m..5min\"\n")
);
shows!(
    a_range_that_ends_before_it_starts,
    errors("[keys.cart]\npattern = \"cart\"\nttl = \"5m..1m\"\n")
);
shows!(
    a_ttl_of_nothing_and_one_beyond_ten_years,
    errors(
        "[keys.a]\npattern = \"a\"\nttl = \"0s\"\n[keys.b]\npattern = \"b\"\nttl = \"11w4000d\"\n"
    )
);
shows!(
    a_bad_pattern_is_marked_inside_the_string,
    errors("[keys.cart]\npattern = \"cart:{user_id\"\n[keys.b]\npattern = \"b:{id:uid}\"\n")
);
shows!(
    a_bad_pattern_is_marked_behind_escapes,
    errors("[keys.cart]\npattern = \"k\\u00e4rt\\u003A{1d}\"\n")
);
shows!(
    a_bad_pattern_in_a_text_of_several_lines,
    errors("[keys.cart]\npattern = \"\"\"\ncart:\\\n   {user id}\"\"\"\n")
);
shows!(
    a_type_that_may_contain_the_separator,
    errors("[params]\npath = { regex = \"[a-z:]+\" }\n[keys.page]\npattern = \"page:{path}\"\n")
);
shows!(
    a_regular_expression_that_explodes,
    errors("[params]\nx = { regex = \"(a|b)*a(a|b){40}\" }\n[keys.page]\npattern = \"page:{x}\"\n")
);
shows!(
    a_regular_expression_that_is_none_and_nobody_uses,
    errors("[params]\nx = { regex = \"[a-z\" }\n")
);
shows!(
    a_key_type_that_names_no_definition,
    errors(
        "[params]\nresource = { key = \"carts\" }\n[keys.lock]\npattern = \"lock:{resource}\"\nlock = {}\nttl = \"30s\"\n"
    )
);
shows!(a_parameter_twice_in_a_pattern, errors("[keys.pair]\npattern = \"pair:{id}:{id}\"\n"));
shows!(
    parameters_with_two_types_or_an_unknown_one,
    errors(
        "[params]\na = { type = \"uuid\", regex = \"x\" }\nb = \"uuidd\"\nc = [\"x\", \"x\"]\nd = { any = [\"uuid\"] }\ne = { encode = { \"//\" = \"_\" } }\n"
    )
);
shows!(
    own_parameters_must_be_in_the_pattern,
    errors("[keys.cart]\npattern = \"cart:{user_id}\"\nparams = { user_ids = \"uuid\" }\n")
);
shows!(
    a_ttl_by_a_parameter_needs_an_enum_and_a_ttl_for_each_word,
    errors(
        "[params]\nwindow = [\"1h\", \"daily\"]\n[keys.a]\npattern = \"a:{window}\"\nttl = { by = \"window\" }\n[keys.b]\npattern = \"b:{user}\"\nttl = { by = \"user\" }\n[keys.c]\npattern = \"c:{window}\"\nttl = { by = \"windows\" }\n"
    )
);
shows!(
    a_reference_has_a_definition_and_a_parameter,
    errors(
        "[keys.cart]\npattern = \"cart\"\nfields = { owner = { ref = \"user\" }, item = { key = \"item.id\" }, both = { ref = \"a.b\", key = \"c\" } }\n"
    )
);
shows!(
    a_bad_event_call_is_marked_inside_the_string,
    errors(
        "[events.changed]\ninvalidates = [\"listing(folder_id = )\", \"permission(user_id *)\", \"a(b = 'c)\"]\n"
    )
);
shows!(two_roles_in_one_definition, errors("[keys.a]\npattern = \"a\"\ncounter = {}\nlock = {}\n"));
shows!(
    the_store_writes_the_holders_of_a_lock,
    errors(
        "[keys.a]\npattern = \"a\"\nlock = { holders = 1 }\nttl = \"30s\"\n[keys.b]\npattern = \"b\"\nlock = { holders = 4 }\nttl = \"30s\"\nmax_len = 10\nmember = \"text\"\nscore = \"unix_ms\"\n[keys.c]\npattern = \"c\"\nlock = { holders = 4 }\nttl = \"30s\"\nvalue = \"text\"\n"
    )
);
shows!(
    a_type_that_does_not_fit_what_is_inside,
    errors(
        "[keys.a]\npattern = \"a\"\ntype = \"list\"\nfields = { x = \"text\" }\n[keys.b]\npattern = \"b\"\nqueue = {}\nmember = \"text\"\n[keys.c]\npattern = \"c\"\ntype = \"string\"\nmax_len = 10\n"
    )
);
shows!(
    cache_options_are_for_caches,
    errors("[keys.a]\npattern = \"a\"\nttl = \"none\"\nl1 = \"10s\"\n")
);
shows!(
    a_trim_that_would_lose_anything_or_that_nothing_asks_for,
    errors(
        "[keys.a]\npattern = \"a\"\ntype = \"set\"\nmember = \"text\"\nmax_len = 9\non_full = \"trim\"\n\
         [keys.b]\npattern = \"b\"\ntype = \"hash\"\nmax_len = 9\non_full = \"trim\"\nkeep = \"first\"\n\
         [keys.c]\npattern = \"c\"\ntype = \"list\"\nvalue = \"text\"\nkeep = \"first\"\n\
         [keys.d]\npattern = \"d\"\nvalue = \"text\"\non_full = \"refuse\"\n\
         [keys.e]\npattern = \"e\"\ntype = \"list\"\nvalue = \"text\"\nmax_len = 9\non_full = \"refuse\"\nkeep = \"last\"\n\
         [keys.f]\npattern = \"f\"\ntype = \"stream\"\nvalue = \"text\"\nmax_len = 9\nkeep = \"first\"\n"
    )
);
shows!(
    a_type_for_fields_of_any_name_and_a_write_that_never_happens,
    errors(
        "[keys.a]\npattern = \"a\"\nfields = { \"*\" = \"uint\" }\n\
         [keys.b]\npattern = \"b\"\ntype = \"stream\"\n[keys.b.fields]\nat = { type = \"uint\", on_write = \"keep\" }\n"
    )
);
shows!(
    a_layout_with_an_unknown_slot_and_a_bad_shape,
    format!(
        "{}\n{}",
        errors(
            "[layout]\nshape = \"<module>:<id>\"\nmodul = [\"user\"]\n[layout.id]\nby = \"name\"\nuser = [\"a\"]\n"
        ),
        errors("[layout]\nshape = \"<module>:<id...>:<rest>\"\n"),
    )
);
shows!(
    server_settings_have_real_names_and_no_secrets,
    errors(
        "[server]\nmaxmemory-polcy = \"noeviction\"\nrequirepass = \"hunter2\"\nmaxmemory = \"2 gb\"\nsave = \"900\"\nappendonly = \"on\"\n"
    )
);
shows!(
    an_allow_needs_a_reason,
    errors(
        "[keys.a]\npattern = \"a\"\nallow = [{ rule = \"missing-ttl\", reason = \" \" }, { rule = \"x\" }]\n"
    )
);
shows!(
    owners_and_groups_that_are_declared_must_be_used_by_name,
    errors(
        "[owners.browse]\n[groups.search]\n[keys.a]\npattern = \"a\"\nowner = \"brows\"\ngroup = \"indexes\"\n"
    )
);
shows!(
    a_migration_needs_real_dates_and_phases,
    errors(
        "[migrations.v2]\nphase = \"dual-writes\"\nstarted = \"2026-09-17\"\nremove_after = 2026-12-31T00:00:00Z\n[migrations.v2.renames]\ncart = \"old:{id}:{id}\"\n"
    )
);
shows!(
    an_id_has_small_letters,
    errors("[keys.Cart]\npattern = \"cart\"\n[params]\n\"user-id\" = \"uuid\"\n")
);
shows!(
    a_separator_that_cannot_be_one,
    errors_of("version = 1\n[keyspace]\nname = \"a\"\nseparator = \"{\"\n")
);
shows!(
    a_missing_head_does_not_hide_other_errors,
    errors_of(
        "[keyspaces]\nname = \"a\"\n[keys.a]\npattern = \"a\"\ntype = \"list\"\nfields = { x = \"text\" }\n"
    )
);
shows!(an_empty_file_says_how_to_begin, errors_of(""));
shows!(a_version_from_the_future, errors_of("version = 2\n[keyspace]\nname = \"a\"\n"));
shows!(
    syntax_errors_come_together_with_others,
    errors_of(
        "version = 1\n[keyspace]\nname = \"shop\nprefix == \"x\"\n\n[keys.a]\npattern = \"a:{id\"\nttl = \n\n[keys.b]\npatern = \"b\"\n"
    )
);
shows!(
    several_errors_at_once,
    errors(
        "[params]\nuser_id = \"uid\"\n\n[keys.cart]\npattern = \"cart:{user_id}\"\nttl = \"1x\"\nlifecycle = \"forever\"\n\n[keys.lock]\nlock = {}\n"
    )
);
shows!(
    tables_that_are_nested_too_deeply,
    errors_of(&format!("[{}]\nx = 1\n", vec!["a"; 500].join(".")))
);
shows!(
    the_same_id_in_two_files,
    errors_of_files(&[
        (
            "keyward.toml",
            &format!("include = [\"keys/cart.toml\"]\n{HEAD}[keys.cart]\npattern = \"cart\"\n")
        ),
        ("keys/cart.toml", "[keys.cart]\npattern = \"cart:{id}\"\n"),
    ])
);
shows!(
    an_include_that_leads_back,
    errors_of_files(&[
        ("keyward.toml", &format!("include = [\"keys/a.toml\"]\n{HEAD}")),
        ("keys/a.toml", "include = [\"b.toml\"]\n"),
        ("keys/b.toml", "include = [\"../keyward.toml\"]\n"),
    ])
);
shows!(
    includes_that_are_missing_twice_absolute_or_outside,
    errors_of_files(&[
        (
            "in/keyward.toml",
            &format!(
                "include = [\"no.toml\", \"a.toml\", \"./a.toml\", \"/etc/hostname\", \"../out.toml\", \"keys\"]\n{HEAD}"
            )
        ),
        ("in/a.toml", "[keyspace]\nname = \"b\"\n"),
        ("in/keys/b.toml", ""),
        ("out.toml", ""),
    ])
);
shows!(
    an_error_in_an_included_file,
    errors_of_files(&[
        ("keyward.toml", &format!("include = [\"cart.toml\"]\n{HEAD}")),
        ("cart.toml", "[keys.cart]\npattern = \"cart:{id\"\n"),
    ])
);

shows!(
    words_of_a_slot_that_its_earlier_slot_does_not_have,
    errors(
        "[layout]\nshape = \"<module>:<business>\"\nmodule = [\"user\", \"order\"]\n[layout.business]\nby = \"module\"\nusers = [\"profile\"]\n"
    )
);
shows!(
    a_share_that_is_none_and_a_jitter_of_everything,
    errors(
        "[alerts]\nmemory = \"180%\"\n[keys.a]\npattern = \"a\"\nttl = \"1h\"\njitter = \"100%\"\n"
    )
);

#[test]
fn files_that_cannot_be_a_schema() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("binary.toml", b"version = 1\nname = \"\xc3\xa4\xff\"\n");
    write("zeros.toml", &[0; 64]);
    let large = fs::File::create(folder.path().join("large.toml")).unwrap();
    large.set_len(100 * 1024 * 1024).unwrap();
    let all: Vec<String> = [
        "missing.toml",
        "zero.toml",
        "keyward.toml",
        "",
        "binary.toml",
        "zeros.toml",
        "large.toml",
    ]
    .iter()
    .map(|name| shown(folder.path(), &folder.path().join(name)))
    .collect();
    snapshot("files_that_cannot_be_a_schema", &all.join(""));
}

#[test]
fn colour_only_adds_colour() {
    let loaded = read("version = 1\n[keyspace]\nnam = \"a\"\n");
    let errors = loaded.schema.unwrap_err();
    let plain = render(&loaded.sources, &errors, &Style { color: false, width: 100 });
    let coloured = render(&loaded.sources, &errors, &Style { color: true, width: 100 });
    assert_ne!(plain, coloured);
    assert!(!plain.contains('\u{1b}'));
}

shows!(
    a_table_twice_in_one_file,
    errors(
        "[keys.cart]\npattern = \"cart:{id}\"\nttl = \"1h\"\ndoc = \"x\"\n\n[keys.cart]\npattern = \"cart:{user}\"\nttl = \"2h\"\ndoc = \"y\"\n"
    )
);

shows!(
    an_array_and_a_table_of_one_name,
    errors(
        "[[allow]]\nrule = \"a\"\nreason = \"b\"\n[allow]\nrule = \"a\"\n[keys.a]\n[[keys.a]] # more\n"
    )
);
shows!(
    a_key_twice_in_one_table,
    errors(
        "[keys.cart]\npattern = \"cart\"\nttl = \"1h\"\n[keys.a]\npattern = \"a\"\nttl = \"1h\"\nttl = \"2h\"\n"
    )
);

#[test]
fn a_line_alone_says_what_is_wrong() {
    let text = format!(
        "{HEAD}[keys.a]\npattern = \"a:{{id:uid}}\"\nttl = \"5min\"\nmax_bytes = \"5 parsecs\"\n\
         [keys.b]\npattern = \"b:{{id\"\nttl = \"0s\"\nmax_bytes = \"64 KiB\"\n"
    );
    let loaded = read(&text);
    snapshot(
        "a_line_alone_says_what_is_wrong",
        &concise(&loaded.sources, &loaded.schema.unwrap_err()),
    );
}

#[test]
fn a_ttl_in_another_spelling_is_answered_with_the_right_one() {
    let spellings = [
        "\"never\"",
        "\"forever\"",
        "\"0\"",
        "\"\"",
        "\"0s\"",
        "\"-1\"",
        "0",
        "-1",
        "false",
        "60",
        "\"1m-5m\"",
        "\"1-5 min\"",
        "\"1m..5min\"",
        "\"5min\"",
        "\"5 minutes\"",
        "\"1H\"",
        "\"1 h\"",
        "\"1.5h\"",
        "\"1y\"",
        "\"3600\"",
        "\"soon\"",
        "\"20y\"",
    ];
    let answers: Vec<String> = spellings
        .iter()
        .map(|ttl| {
            let loaded = read(&format!("{HEAD}[keys.a]\npattern = \"a\"\nttl = {ttl}\n"));
            let errors = loaded.schema.unwrap_err();
            assert_eq!(errors.len(), 1, "{ttl}");
            format!("{ttl}: {}; {}\n", errors[0].message, errors[0].help.join("; "))
        })
        .collect();
    snapshot("a_ttl_in_another_spelling_is_answered_with_the_right_one", &answers.concat());
}

shows!(
    an_included_file_alone_is_no_schema,
    errors_of("[keys.cart]\npattern = \"cart:{id}\"\nttl = \"1h\"\n")
);
shows!(
    includes_that_are_misspelt_or_globs,
    errors_of_files(&[
        (
            "keyward.toml",
            &format!("include = [\"keys/*.toml\", \"keys/crat.toml\", \"keys/cart\"]\n{HEAD}")
        ),
        ("keys/cart.toml", ""),
    ])
);
shows!(
    a_value_of_the_wrong_kind_says_what_to_write,
    errors(
        "[keys.a]\npattern = \"a\"\nqueue = true\nallow = [\"missing-ttl\"]\n[keys.b]\npattern = \"b\"\nrate_limit = { limit = \"10\", window = 60 }\nsliding = \"yes\"\njitter = 10\n[keys.c]\npattern = \"c\"\nrate_limit = true\nindex = \"a\"\n[events.e]\ninvalidates = \"a\"\n[foreign]\nbull = \"bull:*\"\n[migrations.m]\nphase = \"cleanup\"\nstarted = \"2026-09-01\"\nrenames = { a = \"old\" }\n"
    )
);
shows!(
    the_first_role_is_the_first_in_the_file,
    errors("[keys.a]\npattern = \"a\"\nranking = {}\ncounter = {}\n")
);
shows!(a_group_has_an_id, errors("[keys.a]\npattern = \"a\"\ngroup = \"My Group\"\n"));
shows!(
    only_an_enum_is_proposed_to_decide_a_ttl,
    errors(
        "[keys.a]\npattern = \"a:{x}:{z}\"\nparams = { z = [\"1h\", \"1d\"] }\nttl = { by = \"y\" }\n"
    )
);
shows!(
    a_migration_that_ends_before_it_starts,
    errors(
        "[keys.a]\npattern = \"a\"\n[migrations.m]\nphase = \"cleanup\"\nstarted = 2026-09-01\nremove_after = 2026-08-01\nrenames = { a = \"old\" }\n"
    )
);
shows!(
    a_bad_id_does_not_hide_what_is_wrong_below_it,
    errors(
        "[keys.user-profile]\npatern = \"user\"\nttl = \"1x\"\n[keys.User]\npattern = \"u\"\ntype = \"list\"\nfields = { x = \"text\" }\n"
    )
);

#[test]
fn standard_input_is_no_schema() {
    let loaded = load(Path::new("-"));
    let text = render(&loaded.sources, &loaded.schema.unwrap_err(), &Style::default());
    snapshot("standard_input_is_no_schema", &text);
}

#[test]
fn what_nothing_reads_yet_is_refused_with_what_to_do_instead() {
    let text = "[services.mailer]\nuses = []\n[channels.changed]\n\
                [keys.flag]\npattern = \"flag\"\nprefix = false\n";
    let loaded = read(&format!("{HEAD}{text}"));
    let errors = loaded.schema.unwrap_err();
    let messages: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(
        messages,
        ["services", "channels", "prefix"].map(|field| format!("`{field}` is not supported yet"))
    );
    assert!(errors.iter().all(|error| error.help.len() == 1));
}

#[test]
fn what_would_have_no_effect_is_refused() {
    let key = |id: &str, fields: &str| format!("[keys.{id}]\npattern = '{id}'\n{fields}\n");
    let text = [
        key("a", "value = 'text'\nttl = 'none'\njitter = '10%'\non_write = 'keep'\nsliding = true"),
        key("b", "value = 'text'\nttl = '1h'\nopen = true"),
        key("c", "rate_limit = { limit = 3, window = '1m' }\njitter = '5%'\nsliding = true"),
        key("d", "counter = {}\nttl = '1h'\non_write = 'set'"),
        key("e", "counter = {}\nttl = '1h'\nlifecycle = 'cache'\nl1 = '5s'"),
        key("f", "type = 'stream'\nopen = true\nttl = '1h'\nload_lock = '5s'"),
        key("g", "value = 'text'\nttl = '1h'\nl1 = '5s'\nsliding = true"),
        key("h", "fields = { x = { type = 'text', ttl = '1m..2m' } }\nttl = '1h'"),
        key("i", "type = 'stream'\nfields = { x = { type = 'text', ttl = '1m' } }\nttl = '1h'"),
        key("j", "value = 'text'\nqueue = { job_id = 'id' }"),
        "[keys.k]\npattern = 'k:{x}'\nparams = { x = { type = 'uint', normalize = 'lower' } }\n"
            .to_owned(),
        key("l", "lock = {}\nttl = '1m'\njitter = '5%'\non_write = 'keep'\nsliding = true"),
        key("m", "ttl = '1h'\nl1 = '5s'\nearly_refresh = true"),
        key("n", "value = 'text'\nttl = '1h'\nstale_if_slow = '200ms'"),
        key("o", "flag = {}\nvalue = ['on', 'paused']\nttl = '1h'"),
        key("p", "flag = { default = true }\nvalue = 'uint'\nttl = '1h'"),
        key("q", "ranking = { ties = 'first' }\nttl = '1h'"),
        key("r", "type = 'stream'\nopen = 'int'\nttl = '1h'"),
        key("s", "counter = {}\nttl = '1h'"),
        key("t", "value = 'text'\nttl = '1h'"),
        "[events.u]\nrefreshes = ['s', 't']\ninvalidates = ['t']\n".to_owned(),
    ];
    let loaded = read(&format!("{}{}", HEAD.trim_end().to_owned() + "\n", text.concat()));
    let text = render(&loaded.sources, &loaded.schema.unwrap_err(), &Style::default());
    snapshot("what_would_have_no_effect_is_refused", &text);
    let nothing = read(&format!("{HEAD}[events.e]\ndoc = 'nothing'\n"));
    assert_eq!(nothing.schema.unwrap_err()[0].message, "the event `e` does nothing");
    let cluster = read("version = 1\n[keyspace]\nname = 'x'\ndb = 2\ncluster = true\n");
    assert_eq!(cluster.schema.unwrap_err()[0].message, "a cluster has only database 0");
}

shows!(
    options_of_a_queue_that_cannot_be_kept_are_refused,
    errors(
        "[keys.a]\npattern = 'a'\nvalue = 'text'\nqueue = { max_attempts = 3, max_crashes = 1, lease = '10ms' }\n\
         [keys.b]\npattern = 'b'\nvalue = 'text'\nqueue = { backoff = '1m', max_backoff = '1s' }\n"
    )
);

shows!(
    options_of_a_session_that_cannot_be_kept_are_refused,
    errors(
        "[keys.a]\npattern = 'a:{x}'\nfields = { user = 'uint', sen = 'timestamp?' }\n\
         session = { max_age = '1h', touched = 'seen' }\nttl = '2h'\n\
         [keys.b]\npattern = 'b'\nvalue = 'text'\nsession = {}\nttl = '1h'\n\
         [keys.c]\npattern = 'c:{x}:{y}'\nvalue = 'text'\nsession = {}\nttl = '1h'\n\
         [keys.d]\npattern = 'd:{x}'\nvalue = 'text'\nsession = { id = 'z' }\nttl = '1h'\n\
         [keys.e]\npattern = 'e:{x}'\nfields = { user = 'uint' }\nsession = { touched = 'user' }\nttl = '1h'\n\
         [keys.f]\npattern = 'f:{x}'\nvalue = 'text'\nsession = { max_age = '1d' }\nttl = '1h'\non_write = 'keep'\n"
    )
);
shows!(
    a_session_cannot_be_renamed_yet,
    errors(
        "[keys.a]\npattern = 'a:{x}'\nvalue = 'text'\nsession = {}\nttl = '1h'\n\
         [migrations.m]\nphase = 'dual-write'\nrenames = { a = 'old:{x}' }\n"
    )
);

#[test]
fn a_word_with_a_meaning_is_a_word_of_a_slot() {
    let text =
        "[layout]\nshape = \"<type>:<rest...>\"\ntype = [\"list\"]\nmeans = { lst = \"list\" }\n";
    let errors = read(&format!("{HEAD}{text}")).schema.unwrap_err();
    assert_eq!(errors[0].message, "no slot has the word `lst`");
}

shows!(
    a_field_of_another_table_says_where_it_belongs,
    errors(
        "[server]\ncluster = true\n[keys.a]\npattern = \"a\"\nshape = \"<a>\"\n[alerts]\nttl = \"1h\"\n"
    )
);
shows!(
    a_word_in_capitals_is_recognised,
    errors("[keys.a]\npattern = \"a\"\nvalue = \"JSON\"\ntype = \"String\"\n")
);
shows!(
    a_duration_without_quotes_is_answered_with_quotes,
    errors("[keys.a]\npattern = \"a\"\nttl = 10m # short\nmax_bytes = 64kb\n")
);

/// The errors of a schema with one definition of each kind and these renames.
fn errors_of_renames(renames: &str) -> String {
    errors(&format!(
        "[keys.text]\npattern = \"new:text:{{id}}\"\nvalue = \"text\"\n\n\
         [keys.number]\npattern = \"new:number:{{id:uint}}\"\nvalue = \"uint\"\n\n\
         [keys.person]\npattern = \"new:person:{{code:slug}}\"\nfields = {{ name = \"text\" }}\n\n\
         [keys.flag]\npattern = \"new:flag:{{state}}\"\nparams = {{ state = [\"on\", \"off\"] }}\n\n\
         [migrations.v2]\nphase = \"dual-write\"\n\n[migrations.v2.renames]\n{renames}"
    ))
}

shows!(
    a_conversion_must_fit_the_definition,
    errors_of_renames(concat!(
        "text = { pattern = \"a:{id}\", convert = \"json-to-hash\" }\n",
        "number = { pattern = \"b:{id}\", convert = \"lower-case\" }\n",
        "person = [\n",
        "  { pattern = \"c:{code}\", convert = \"hash-to-json\" },\n",
        "  { pattern = \"d:{code}\", convert = \"set-to-sorted-set\", score = 0 },\n",
        "  { pattern = \"e:{code}\", convert = \"json-to-hsh\" },\n",
        "]\n",
    ))
);

shows!(
    only_a_sorted_set_has_a_score,
    errors_of_renames(concat!(
        "text = { pattern = \"a:{id}\", convert = \"set-to-sorted-set\" }\n",
        "number = { pattern = \"b:{id}\", score = 1 }\n",
        "person = { pattern = \"c:{code}\", convert = \"json-to-hash\", score = \"later\" }\n",
    ))
);

shows!(
    a_change_of_case_must_change_something_that_the_definition_accepts,
    errors_of_renames(concat!(
        "text = { pattern = \"a:{id}\", recase = { ident = \"lower\", di = \"upper\" } }\n",
        "number = { pattern = \"b:{id}\", recase = { id = \"lower\" } }\n",
        "person = [\n",
        "  { pattern = \"c:{code:word}\", recase = { code = \"lower\" } },\n",
        "  { pattern = \"d:{code}\", recase = { code = \"lower\" } },\n",
        "  { pattern = \"f:{code}\", recase = { code = \"title\" } },\n",
        "]\n",
        "flag = { pattern = \"g:{state}\", recase = { state = \"upper\" } }\n",
    ))
);

shows!(
    old_keys_stand_in_another_database,
    errors_of(
        "version = 1\n[keyspace]\nname = \"shop\"\ndb = 3\n[keys.cart]\npattern = \"cart:{id}\"\n[migrations.v2]\nphase = \"cleanup\"\n[migrations.v2.renames]\ncart = [\"old:{id}\", { pattern = \"cart:{id}\", db = 3 }]\n"
    )
);

shows!(
    the_default_database_is_not_another_one,
    errors_of_renames("text = { pattern = \"a:{id}\", db = 0 }\n")
);

shows!(
    a_cluster_has_no_other_database_to_move_from,
    errors_of(
        "version = 1\n[keyspace]\nname = \"shop\"\ncluster = true\n[keys.cart]\npattern = \"cart:{id}\"\n[migrations.v2]\nphase = \"cleanup\"\n[migrations.v2.renames]\ncart = { pattern = \"cart:{id}\", db = 1 }\n"
    )
);

shows!(
    an_old_name_is_a_pattern_or_a_table,
    errors_of_renames("text = 7\nnumber = { from = \"b:{id}\" }\nperson = [true, {}]\n")
);

shows!(
    how_old_names_end_is_a_duration,
    errors(
        "[keys.cart]\npattern = \"cart:{id}\"\n[migrations.v2]\nphase = \"cleanup\"\nold_ttl = \"none\"\nquiet = 0\n[migrations.v2.renames]\ncart = \"old:{id}\"\n"
    )
);

shows!(
    owners_that_do_not_exist_cannot_approve,
    errors("[keys.cart]\npattern = \"cart:{id}\"\n[plans]\nrequire_owner = true\n")
);

shows!(
    what_plans_ask_for_stands_in_the_root_file,
    errors_of_files(&[
        ("keyward.toml", "version = 1\ninclude = [\"more.toml\"]\n[keyspace]\nname = \"shop\"\n"),
        ("more.toml", "[plans]\nrequire_owner = true\n"),
    ])
);

shows!(
    an_example_with_another_result_shows_both,
    errors(
        "[text.heading]\nmax_len = 30\nexamples = [\n  [\"Größe & Wert\", \"groesse_wert\"],\n  \
         [\"Größe & Wert\", \"groesse_und_wert\"],\n]\n"
    )
);

shows!(
    a_text_pipeline_extends_one_that_exists,
    errors(
        "[text.a]\nextends = \"b\"\n[text.b]\nextends = \"c\"\n[text.c]\nextends = \"a\"\n\
         [text.d]\nextends = \"heding\"\n[text.heading]\n[text.e]\nextends = \"a\"\n"
    )
);

shows!(
    an_option_of_a_text_pipeline_that_cannot_act_is_refused,
    errors(
        "[text.a]\nabbreviations = { \"z. B.\" = \"zum Beispiel\" }\n[text.b]\nextends = \"a\"\n\
         [text.c]\nsymbols = { \"&&\" = \"and\" }\n[text.d]\nsymbols = { \"[\" = \"klammer\" }\n\
         [text.e]\nstop_words = [\"und\", \"in der\"]\n[text.f]\nshorten = \"vowels\"\n\
         [text.g]\nmax_len = 16\n[text.h]\nnumbers = \"fr\"\n[text.i]\nexamples = [[\"a\"]]\n[text.j]\nsteps = []\n"
    )
);

shows!(
    a_parameter_takes_every_result_of_its_text_pipeline,
    errors(
        "[text.heading]\nmax_len = 40\n[params]\nname = { regex = \"[a-z][a-z0-9_]{1,29}\", from = \"heading\" }\n\
         id = { type = \"uuid\", from = \"heading\" }\ntitle = { type = \"word\", from = \"headings\" }\n\
         [keys.page]\npattern = \"page:{name}:{id}:{title}\"\n"
    )
);

#[test]
fn what_a_text_pipeline_does_not_set_it_takes_from_another() {
    let text = "[text.heading]\nmax_len = 40\nnumbers = \"de\"\nidempotent = true\n\
                examples = [[\"5 % Zins\", \"fuenf_zins\"]]\n\
                [text.content]\nextends = \"heading\"\nsymbols = { \"%\" = \"prozent\" }\nwords = 2\n\
                examples = [[\"5 % Zins\", \"fuenf_prozent\"], [\"!!!\", \"special_chars_only_20240101_120000\"]]\n\
                [params]\nname = { type = \"word\", from = \"content\" }\n[keys.page]\npattern = \"page:{name}\"\n";
    assert_eq!(errors(text), "no errors");
}

/// Two kinds of keys, and relations between them.
const RELATIONS: &str = "[params]\nitem = { key = [\"page\", \"note\"] }\npage_key = { key = \"page\" }\n\
     [keys.page]\npattern = \"page:{id:uint}\"\nvalue = \"text\"\n\
     [keys.note]\npattern = \"note:{id:uint}\"\nvalue = \"text\"\n";

fn relations(body: &str) -> String {
    errors(&format!("{RELATIONS}{body}"))
}

shows!(
    a_relation_that_is_misspelt_names_the_nearest,
    relations(
        "[keys.next]\npattern = \"{item}:next\"\nvalue = { key = [\"page\", \"note\"] }\ninverse = \"previus\"\n\
         [keys.previous]\npattern = \"{item}:previous\"\nvalue = { key = [\"page\", \"note\"] }\nclosure = \"next\"\n"
    )
);

shows!(
    only_relations_between_keys_can_agree,
    relations(
        "[keys.next]\npattern = \"{item}:next\"\nvalue = { key = [\"page\", \"note\"] }\ninverse = \"page\"\n\
         [keys.title]\npattern = \"{item}:title\"\nvalue = \"text\"\nsame_as = \"next\"\n\
         [keys.log]\npattern = \"log:{id:uint}\"\nmember = { key = \"page\" }\nclosure_of = \"next\"\n"
    )
);

shows!(
    relations_that_agree_are_between_the_same_keys,
    relations(
        "[keys.next]\npattern = \"{item}:next\"\nvalue = { key = \"page\" }\ninverse = \"previous\"\n\
         [keys.previous]\npattern = \"{item}:previous\"\nvalue = { key = [\"page\", \"note\"] }\n\
         [keys.twins]\npattern = \"{page_key}:twins\"\nmember = { key = \"note\" }\ninverse = \"twins\"\n\
         [keys.below]\npattern = \"{page_key}:below\"\nmember = { key = \"page\" }\n\
         [keys.all_below]\npattern = \"{item}:all_below\"\nmember = { key = \"page\" }\nclosure_of = \"below\"\n\
         [keys.sorted]\npattern = \"{page_key}:sorted\"\nmember = { key = \"note\" }\nscore = \"uint\"\nsame_as = \"below\"\n"
    )
);

shows!(
    a_relation_does_not_agree_with_itself_or_with_two,
    relations(
        "[keys.below]\npattern = \"{page_key}:below\"\nmember = { key = \"page\" }\nclosure_of = \"below\"\n\
         [keys.last]\npattern = \"{page_key}:last\"\nvalue = { key = \"page\" }\nclosure_of = \"below\"\n\
         [keys.a]\npattern = \"{page_key}:a\"\nvalue = { key = \"page\" }\ninverse = \"b\"\n\
         [keys.b]\npattern = \"{page_key}:b\"\nvalue = { key = \"page\" }\n\
         [keys.c]\npattern = \"{page_key}:c\"\nvalue = { key = \"page\" }\ninverse = \"b\"\n\
         [keys.d]\npattern = \"{page_key}:d\"\nvalue = { key = \"page\" }\ninverse = \"a\"\n"
    )
);

shows!(
    relations_that_fit_are_accepted,
    relations(
        "[keys.next]\npattern = \"{item}:next\"\nvalue = { key = [\"page\", \"note\"] }\ninverse = \"previous\"\n\
         [keys.previous]\npattern = \"{item}:previous\"\nvalue = { key = [\"note\", \"page\"] }\ninverse = \"next\"\n\
         [keys.twins]\npattern = \"{item}:twins\"\nmember = { key = [\"page\", \"note\"] }\ninverse = \"twins\"\n\
         [keys.below]\npattern = \"{item}:below\"\nmember = { key = \"page\" }\ninverse = \"above\"\n\
         [keys.above]\npattern = \"{page_key}:above\"\nvalue = { key = [\"page\", \"note\"] }\n\
         [keys.all_below]\npattern = \"{page_key}:all_below\"\nmember = { key = \"page\" }\nclosure_of = \"below\"\n\
         [keys.sorted]\npattern = \"{page_key}:sorted\"\nmember = { key = \"page\" }\nscore = \"uint\"\nsame_as = \"all_below\"\n"
    )
);

shows!(
    separators_that_separate_nothing_are_refused,
    errors(
        "[keys.a]\npattern = \"a/{x}/{y}\"\nseparators = \":/\"\n\n\
         [keys.b]\npattern = \"b/{x}\"\nseparators = \"/.\"\n\n\
         [keys.c]\npattern = \"c/{x:uint}/{y:slug}\"\nseparators = \"/\"\n\n\
         [keys.d]\npattern = \"d/{x}\"\nseparators = \"//\"\n\n\
         [keys.e]\npattern = \"e*{x}\"\nseparators = \"*\"\n\n\
         [keys.f]\npattern = \"f/{x}\"\nseparators = \"\"\n"
    )
);

shows!(
    characters_that_cannot_be_excluded_are_refused,
    errors(
        "[params]\na = { type = \"uint\", without = \"/\" }\nb = { type = [\"x-y\", \"z\"], without = \"-\" }\n\
         c = { type = \"text\", without = \"{\" }\nd = { type = \"text\", without = \"ü\" }\n\
         e = { type = \"uuid\", without = \"-\" }\n\
         f = { type = \"text\", encode = { \".\" = \"/\" }, without = \"/\" }\n\
         g = { key = \"k\", without = \"/\" }\nh = { type = \"encoded\", without = \".\" }\n\n\
         [keys.k]\npattern = \"k:{g}\"\n"
    )
);

shows!(
    bytes_and_braces_are_for_old_names,
    errors(
        "[params]\nx = \"raw\"\n\n[keys.a]\npattern = 'a{0x0616}'\n\n[keys.b]\npattern = \"b:{y:raw}\"\n\n\
         [keys.c]\npattern = \"c:{y}\"\n\n[keys.d]\npattern = \"d\\u0006\"\n\n\
         [migrations.v2]\nphase = \"cleanup\"\n[migrations.v2.renames]\nc = [\"c{0xac}\", \"c{0x6}{y}\", \"c{y...:uint}\"]\n"
    )
);

shows!(
    an_address_with_colons_cannot_stand_in_the_prefix,
    errors_of(
        "version = 1\n\n[keyspace]\nname = \"shop\"\nprefix = \"{client:raw_ip}:\"\n\n[keys.a]\npattern = \"a:{b:email}\"\n"
    )
);

shows!(
    an_email_needs_its_own_characters,
    errors_of(
        "version = 1\n\n[keyspace]\nname = \"shop\"\nseparator = \".\"\n\n[keys.a]\npattern = \"a.{b:email}\"\n"
    )
);
