//! The rules, one file each. `cargo xtask new-rule` makes a file and its two lines here.

use crate::rule::Rule;

mod abbreviation;
mod ambiguous_pattern;
mod event_cannot_bind;
mod event_unknown;
mod evictable_persistent;
mod evictable_retained;
mod example_mismatch;
mod expiring_queue;
mod hash_without_fields;
mod index_outlived;
mod key_too_long;
mod layout_mismatch;
mod lifecycle_ttl_mismatch;
mod lock_without_ttl;
mod lossy_encoding;
mod migration_crosses_slots;
mod migration_overdue;
mod migration_overlaps;
mod missing_owner;
mod missing_ttl;
mod missing_type;
mod not_persisted;
mod ordered_in_set;
mod overlapping_patterns;
mod reserved_word;
mod revocation_shorter_than_session;
mod role_crosses_slots;
mod session_evictable;
mod stale_cache;
mod status_expires_before_job;
mod trimmed_queue;
mod unbounded_caller_ttl;
mod unbounded_collection;
mod unbounded_key_length;
mod unbounded_memory;
mod undocumented;
mod unknown_reference;
mod unknown_word;
mod unused_allow;
mod uppercase_literal;

/// Every rule, by name.
pub(crate) static ALL: &[Rule] = &[
    abbreviation::RULE,
    ambiguous_pattern::RULE,
    event_cannot_bind::RULE,
    event_unknown::RULE,
    evictable_persistent::RULE,
    evictable_retained::RULE,
    example_mismatch::RULE,
    expiring_queue::RULE,
    hash_without_fields::RULE,
    index_outlived::RULE,
    key_too_long::RULE,
    layout_mismatch::RULE,
    lifecycle_ttl_mismatch::RULE,
    lock_without_ttl::RULE,
    lossy_encoding::RULE,
    migration_crosses_slots::RULE,
    migration_overdue::RULE,
    migration_overlaps::RULE,
    missing_owner::RULE,
    missing_ttl::RULE,
    missing_type::RULE,
    not_persisted::RULE,
    ordered_in_set::RULE,
    overlapping_patterns::RULE,
    reserved_word::RULE,
    revocation_shorter_than_session::RULE,
    role_crosses_slots::RULE,
    session_evictable::RULE,
    stale_cache::RULE,
    status_expires_before_job::RULE,
    trimmed_queue::RULE,
    unbounded_caller_ttl::RULE,
    unbounded_collection::RULE,
    unbounded_key_length::RULE,
    unbounded_memory::RULE,
    undocumented::RULE,
    unknown_reference::RULE,
    unknown_word::RULE,
    unused_allow::RULE,
    uppercase_literal::RULE,
];

/// The rule that judges what the others left unused, and therefore runs after them.
pub(crate) const LAST: &str = unused_allow::RULE.name;
