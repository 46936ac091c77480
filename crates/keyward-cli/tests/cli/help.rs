use crate::{SHOP, cli, shop};
use insta::assert_snapshot;

#[test]
fn help_teaches_by_example() {
    for args in [
        &["--help"][..],
        &["check", "--help"],
        &["breaking", "--help"],
        &["fmt", "--help"],
        &["key", "build", "--help"],
        &["key", "parse", "--help"],
        &["key", "glob", "--help"],
        &["rules", "--help"],
        &["explain", "--help"],
        &["init", "--help"],
        &["docs", "--help"],
        &["watch", "--help"],
        &["serve", "--help"],
    ] {
        assert_snapshot!(cli().run(args));
    }
}

#[test]
fn every_example_of_the_help_is_understood() {
    let cli = shop(SHOP);
    for command in [
        &["key", "build"][..],
        &["key", "parse"],
        &["key", "glob"],
        &["check"],
        &["breaking"],
        &["fmt"],
        &["docs"],
    ] {
        let help = cli.run(command.iter().copied().chain(["--help"])).stdout;
        let examples = help.lines().filter_map(|line| line.strip_prefix("  keyward "));
        let mut found = 0;
        for example in examples {
            let words = example.split("  ").next().unwrap_or_default().split(' ');
            let words = words.take_while(|word| !["<", "|"].contains(word));
            let output = cli.run(words);
            assert!(!output.stderr.contains("Usage:"), "{output}");
            found += 1;
        }
        assert!(found > 0, "`{command:?}` has no examples");
    }
}

#[test]
fn a_misspelt_command_is_recognised() {
    assert_snapshot!(cli().run(["chek"]));
}

#[test]
fn the_tour_needs_nothing() {
    assert_snapshot!(cli().run(["demo", "--out", "demo"]));
}

#[test]
fn colours_are_used_when_they_are_asked_for_and_say_nothing_new() {
    let cli = shop(crate::check::LEAKY);
    for args in [&["check"][..], &["rules"], &["explain", "missing-ttl"], &["demo"]] {
        let args = |color| args.iter().copied().chain(["--color", color]);
        let plain = cli.run(args("auto"));
        let coloured = cli.run(args("always"));
        assert!(!plain.stdout.contains('\x1b'), "{plain}");
        assert!(coloured.stdout.contains("\x1b["), "{coloured}");
        assert_eq!(without_colours(&coloured.stdout), plain.stdout);
        let no_color = cli.command(args("auto")).env("NO_COLOR", "1").run();
        assert_eq!(no_color.stdout, plain.stdout);
    }
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, text)| text));
    first + &rest.collect::<String>()
}

#[test]
fn shells_and_manuals_get_the_same_definitions() {
    let cli = cli();
    for shell in ["bash", "zsh", "fish"] {
        let script = cli.run(["completions", shell]);
        assert!(script.stdout.contains("explain") && script.code == Some(0), "{shell}");
    }
    assert_snapshot!(cli.run(["man", "pages"]));
    assert!(cli.read("pages/keyward-key-parse.1").contains("redis"));
}
