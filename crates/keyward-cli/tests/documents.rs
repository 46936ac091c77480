//! What the documents show is what the program prints.

use keyward_testkit::{book, transcript};

#[test]
fn commands_in_the_documents_print_what_is_shown() {
    let (ran, failed): (Vec<_>, Vec<_>) = book::pages()
        .iter()
        .map(|page| transcript::check(env!("CARGO_BIN_EXE_keyward"), page))
        .partition(Result::is_ok);
    let failures: Vec<_> = failed.into_iter().filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(ran.into_iter().flatten().sum::<usize>() > 0, "no command was found in any document");
}
