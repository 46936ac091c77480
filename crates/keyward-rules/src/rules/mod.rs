//! The rules, one file each. `cargo xtask new-rule` makes a file and its two lines here.

use crate::rule::Rule;

mod abbreviation;
mod ambiguous_pattern;
mod both_names;
mod dangling_reference;
mod event_cannot_bind;
mod event_unknown;
mod evictable_persistent;
mod evictable_retained;
mod example_mismatch;
mod expiring_queue;
mod foreign_notation;
mod hash_without_fields;
mod index_outlived;
mod invalid_param;
mod invalid_value;
mod key_too_long;
mod layout_mismatch;
mod lifecycle_ttl_mismatch;
mod lock_without_ttl;
mod lossy_encoding;
mod memory_high;
mod migration_cannot_map;
mod migration_crosses_slots;
mod migration_overdue;
mod migration_overlaps;
mod missing_field;
mod missing_owner;
mod missing_ttl;
mod missing_type;
mod not_persisted;
mod old_name;
mod ordered_in_set;
mod overlapping_patterns;
mod oversized_collection;
mod oversized_value;
mod reserved_word;
mod revocation_shorter_than_session;
mod role_crosses_slots;
mod role_mismatch;
mod server_setting;
mod session_evictable;
mod stale_cache;
mod status_expires_before_job;
mod trimmed_queue;
mod ttl_missing;
mod ttl_too_long;
mod ttl_unexpected;
mod unbounded_caller_ttl;
mod unbounded_collection;
mod unbounded_key_length;
mod unbounded_memory;
mod undocumented;
mod unknown_field;
mod unknown_key;
mod unknown_reference;
mod unknown_word;
mod unused_allow;
mod unused_declaration;
mod uppercase_literal;
mod window_ttl_mismatch;
mod wrong_type;

/// Every rule, by name.
pub(crate) static ALL: &[Rule] = &[
    abbreviation::RULE,
    ambiguous_pattern::RULE,
    both_names::RULE,
    dangling_reference::RULE,
    event_cannot_bind::RULE,
    event_unknown::RULE,
    evictable_persistent::RULE,
    evictable_retained::RULE,
    example_mismatch::RULE,
    expiring_queue::RULE,
    foreign_notation::RULE,
    hash_without_fields::RULE,
    index_outlived::RULE,
    invalid_param::RULE,
    invalid_value::RULE,
    key_too_long::RULE,
    layout_mismatch::RULE,
    lifecycle_ttl_mismatch::RULE,
    lock_without_ttl::RULE,
    lossy_encoding::RULE,
    memory_high::RULE,
    migration_cannot_map::RULE,
    migration_crosses_slots::RULE,
    migration_overdue::RULE,
    migration_overlaps::RULE,
    missing_field::RULE,
    missing_owner::RULE,
    missing_ttl::RULE,
    missing_type::RULE,
    not_persisted::RULE,
    old_name::RULE,
    ordered_in_set::RULE,
    overlapping_patterns::RULE,
    oversized_collection::RULE,
    oversized_value::RULE,
    reserved_word::RULE,
    revocation_shorter_than_session::RULE,
    role_crosses_slots::RULE,
    role_mismatch::RULE,
    server_setting::RULE,
    session_evictable::RULE,
    stale_cache::RULE,
    status_expires_before_job::RULE,
    trimmed_queue::RULE,
    ttl_missing::RULE,
    ttl_too_long::RULE,
    ttl_unexpected::RULE,
    unbounded_caller_ttl::RULE,
    unbounded_collection::RULE,
    unbounded_key_length::RULE,
    unbounded_memory::RULE,
    undocumented::RULE,
    unknown_field::RULE,
    unknown_key::RULE,
    unknown_reference::RULE,
    unknown_word::RULE,
    unused_allow::RULE,
    unused_declaration::RULE,
    uppercase_literal::RULE,
    window_ttl_mismatch::RULE,
    wrong_type::RULE,
];

/// The rule that judges what the others left unused, and therefore runs after them.
pub(crate) const LAST: &str = unused_allow::RULE.name;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{block, messages};

    #[test]
    fn every_example_is_reported_and_what_to_use_instead_is_not() {
        for rule in ALL.iter().filter(|rule| !rule.is_live()) {
            assert_ne!(messages(rule, &block(rule, "Example")), [""; 0], "{}", rule.name);
            assert_eq!(messages(rule, &block(rule, "Use instead")), [""; 0], "{}", rule.name);
        }
    }

    #[test]
    fn every_documentation_has_the_four_headings() {
        for rule in ALL {
            let documentation = rule.documentation();
            let headings: Vec<_> =
                documentation.lines().filter_map(|line| line.strip_prefix("## ")).collect();
            let expected = ["What it does", "Why is this bad", "Example", "Use instead"];
            assert_eq!(headings, expected, "{}", rule.name);
            assert!(rule.summary().ends_with('.'), "{}", rule.name);
        }
    }

    #[test]
    fn every_file_is_a_registered_rule_of_that_name() {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/rules")).unwrap();
        let files = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<_> = files
            .filter_map(|file| Some(file.strip_suffix(".rs")?.replace('_', "-")))
            .filter(|name| name != "mod")
            .collect();
        files.sort();
        let names: Vec<_> = ALL.iter().map(|rule| rule.name).collect();
        assert_eq!(names, files);
    }
}
