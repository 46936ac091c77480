//! The rules, one file each. `cargo xtask new-rule` makes a file and its two lines here: the module,
//! which rustfmt would not find in a macro, and the variant of [`Rule`].

use crate::rule::registry;

mod abbreviation;
mod acl_outgrown;
mod ambiguous_pattern;
mod both_names;
mod bound_lowered;
mod bound_raised;
mod cache_changed;
mod constructor_changed;
mod dangling_reference;
mod definition_removed;
mod definition_renamed;
mod derived_keys_left;
mod event_cannot_bind;
mod event_params_changed;
mod event_removed;
mod event_unknown;
mod evictable_persistent;
mod evictable_retained;
mod example_mismatch;
mod expired_accept;
mod expiring_queue;
mod field_optional;
mod field_removed;
mod field_required;
mod fields_closed;
mod foreign_notation;
mod foreign_removed;
mod generated_names_changed;
mod hash_without_fields;
mod index_contradiction;
mod index_outlived;
mod index_reverse_mismatch;
mod index_unfilled;
mod invalid_param;
mod invalid_value;
mod invalidation_removed;
mod key_length_lowered;
mod key_reread;
mod key_too_long;
mod keyspace_moved;
mod keyspace_renamed;
mod layout_mismatch;
mod leaked_derived_key;
mod lifecycle_changed;
mod lifecycle_ttl_mismatch;
mod lock_without_ttl;
mod lossy_encoding;
mod memory_high;
mod migration_cannot_map;
mod migration_crosses_slots;
mod migration_overdue;
mod migration_overlaps;
mod migration_removed;
mod migration_skips_phase;
mod misleading_word;
mod missing_field;
mod missing_owner;
mod missing_ttl;
mod missing_type;
mod misspelled_param;
mod new_reservation;
mod not_persisted;
mod old_name;
mod ordered_in_set;
mod overlapping_patterns;
mod oversized_collection;
mod oversized_value;
mod param_narrowed;
mod param_widened;
mod params_changed;
mod pattern_changed;
mod reference_cycle;
mod relation_closure_mismatch;
mod relation_inverse_mismatch;
mod relation_members_mismatch;
mod renewal_changed;
mod repeated_prefix;
mod reserved_word;
mod revocation_shorter_than_session;
mod role_changed;
mod role_crosses_slots;
mod role_mismatch;
mod role_options_changed;
mod server_changed;
mod server_setting;
mod session_evictable;
mod slot_changed;
mod stale_cache;
mod stale_index;
mod status_expires_before_job;
mod text_changed;
mod trimmed_queue;
mod ttl_extended;
mod ttl_missing;
mod ttl_required;
mod ttl_shortened;
mod ttl_too_long;
mod ttl_unexpected;
mod type_changed;
mod unbounded_caller_ttl;
mod unbounded_collection;
mod unbounded_key_length;
mod unbounded_memory;
mod undocumented;
mod unknown_field;
mod unknown_key;
mod unknown_reference;
mod unknown_word;
mod unseparated_prefix;
mod unused_allow;
mod unused_declaration;
mod uppercase_literal;
mod value_changed;
mod value_type_changed;
mod window_ttl_mismatch;
mod wrong_type;

/// What live rules ask of keys and servers: each is decided in the rule's own file, and called by whoever counts.
pub mod judge {
    pub use super::both_names::broken as both_names;
    pub use super::dangling_reference::{
        Target, Unresolved, UnresolvedCounts, judge as dangling_reference,
    };
    pub use super::invalid_param::{Misfit, Misfits};
    pub use super::invalid_value::{Expected, LOOKED_AT};
    pub use super::leaked_derived_key::breaks as leaked_derived_key;
    pub use super::memory_high::breaks as memory_high;
    pub use super::missing_field::breaks as missing_field;
    pub use super::oversized_collection::breaks as oversized_collection;
    pub use super::oversized_value::breaks as oversized_value;
    pub use super::server_setting::breaks as server_setting;
    pub use super::ttl_missing::breaks as ttl_missing;
    pub use super::ttl_too_long::{FORGIVEN as FORGIVEN_TTL, breaks as ttl_too_long};
    pub use super::ttl_unexpected::breaks as ttl_unexpected;
    pub use super::unknown_field::breaks as unknown_field;
    pub use super::unknown_key::{Breach, Why, Wrong, describe as unknown_key};
    pub use super::wrong_type::breaks as wrong_type;
}

registry! {
    Abbreviation: abbreviation,
    AclOutgrown: acl_outgrown,
    AmbiguousPattern: ambiguous_pattern,
    BothNames: both_names,
    BoundLowered: bound_lowered,
    BoundRaised: bound_raised,
    CacheChanged: cache_changed,
    ConstructorChanged: constructor_changed,
    DanglingReference: dangling_reference,
    DefinitionRemoved: definition_removed,
    DefinitionRenamed: definition_renamed,
    DerivedKeysLeft: derived_keys_left,
    EventCannotBind: event_cannot_bind,
    EventParamsChanged: event_params_changed,
    EventRemoved: event_removed,
    EventUnknown: event_unknown,
    EvictablePersistent: evictable_persistent,
    EvictableRetained: evictable_retained,
    ExampleMismatch: example_mismatch,
    ExpiredAccept: expired_accept,
    ExpiringQueue: expiring_queue,
    FieldOptional: field_optional,
    FieldRemoved: field_removed,
    FieldRequired: field_required,
    FieldsClosed: fields_closed,
    ForeignNotation: foreign_notation,
    ForeignRemoved: foreign_removed,
    GeneratedNamesChanged: generated_names_changed,
    HashWithoutFields: hash_without_fields,
    IndexContradiction: index_contradiction,
    IndexOutlived: index_outlived,
    IndexReverseMismatch: index_reverse_mismatch,
    IndexUnfilled: index_unfilled,
    InvalidParam: invalid_param,
    InvalidValue: invalid_value,
    InvalidationRemoved: invalidation_removed,
    KeyLengthLowered: key_length_lowered,
    KeyReread: key_reread,
    KeyTooLong: key_too_long,
    KeyspaceMoved: keyspace_moved,
    KeyspaceRenamed: keyspace_renamed,
    LayoutMismatch: layout_mismatch,
    LeakedDerivedKey: leaked_derived_key,
    LifecycleChanged: lifecycle_changed,
    LifecycleTtlMismatch: lifecycle_ttl_mismatch,
    LockWithoutTtl: lock_without_ttl,
    LossyEncoding: lossy_encoding,
    MemoryHigh: memory_high,
    MigrationCannotMap: migration_cannot_map,
    MigrationCrossesSlots: migration_crosses_slots,
    MigrationOverdue: migration_overdue,
    MigrationOverlaps: migration_overlaps,
    MigrationRemoved: migration_removed,
    MigrationSkipsPhase: migration_skips_phase,
    MisleadingWord: misleading_word,
    MissingField: missing_field,
    MissingOwner: missing_owner,
    MissingTtl: missing_ttl,
    MissingType: missing_type,
    MisspelledParam: misspelled_param,
    NewReservation: new_reservation,
    NotPersisted: not_persisted,
    OldName: old_name,
    OrderedInSet: ordered_in_set,
    OverlappingPatterns: overlapping_patterns,
    OversizedCollection: oversized_collection,
    OversizedValue: oversized_value,
    ParamNarrowed: param_narrowed,
    ParamWidened: param_widened,
    ParamsChanged: params_changed,
    PatternChanged: pattern_changed,
    ReferenceCycle: reference_cycle,
    RelationClosureMismatch: relation_closure_mismatch,
    RelationInverseMismatch: relation_inverse_mismatch,
    RelationMembersMismatch: relation_members_mismatch,
    RenewalChanged: renewal_changed,
    RepeatedPrefix: repeated_prefix,
    ReservedWord: reserved_word,
    RevocationShorterThanSession: revocation_shorter_than_session,
    RoleChanged: role_changed,
    RoleCrossesSlots: role_crosses_slots,
    RoleMismatch: role_mismatch,
    RoleOptionsChanged: role_options_changed,
    ServerChanged: server_changed,
    ServerSetting: server_setting,
    SessionEvictable: session_evictable,
    SlotChanged: slot_changed,
    StaleCache: stale_cache,
    StaleIndex: stale_index,
    StatusExpiresBeforeJob: status_expires_before_job,
    TextChanged: text_changed,
    TrimmedQueue: trimmed_queue,
    TtlExtended: ttl_extended,
    TtlMissing: ttl_missing,
    TtlRequired: ttl_required,
    TtlShortened: ttl_shortened,
    TtlTooLong: ttl_too_long,
    TtlUnexpected: ttl_unexpected,
    TypeChanged: type_changed,
    UnboundedCallerTtl: unbounded_caller_ttl,
    UnboundedCollection: unbounded_collection,
    UnboundedKeyLength: unbounded_key_length,
    UnboundedMemory: unbounded_memory,
    Undocumented: undocumented,
    UnknownField: unknown_field,
    UnknownKey: unknown_key,
    UnknownReference: unknown_reference,
    UnknownWord: unknown_word,
    UnseparatedPrefix: unseparated_prefix,
    UnusedAllow: unused_allow,
    UnusedDeclaration: unused_declaration,
    UppercaseLiteral: uppercase_literal,
    ValueChanged: value_changed,
    ValueTypeChanged: value_type_changed,
    WindowTtlMismatch: window_ttl_mismatch,
    WrongType: wrong_type,
}

/// The rule that judges what the others left unused, and therefore runs after them.
pub(crate) const LAST: Rule = Rule::UnusedAllow;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{block, blocks, broken, messages};

    #[test]
    fn every_example_is_reported_and_what_to_use_instead_is_not() {
        let on_schemas = |rule: &&Rule| !rule.is_live() && !rule.is_breaking();
        for rule in Rule::ALL.iter().filter(on_schemas) {
            let declared = rule.declaration();
            assert_ne!(messages(declared, &block(declared, "Example")), [""; 0], "{rule}");
            assert_eq!(messages(declared, &block(declared, "Use instead")), [""; 0], "{rule}");
        }
    }

    #[test]
    fn every_change_that_is_an_example_is_reported_and_what_to_use_instead_is_not() {
        for rule in Rule::ALL.iter().filter(|rule| rule.is_breaking()) {
            let declared = rule.declaration();
            let example = blocks(declared, "Example");
            assert_eq!(example.len(), 2, "{rule}: before and after");
            assert_ne!(broken(declared, &example[0], &example[1]), [""; 0], "{rule}");
            let instead = block(declared, "Use instead");
            assert_eq!(broken(declared, &example[0], &instead), [""; 0], "{rule}");
            assert_eq!(broken(declared, &example[0], &example[0]), [""; 0], "{rule}");
        }
    }

    #[test]
    fn every_documentation_has_the_four_headings() {
        for rule in Rule::ALL {
            let documentation = rule.documentation();
            let headings: Vec<_> =
                documentation.lines().filter_map(|line| line.strip_prefix("## ")).collect();
            let expected = ["What it does", "Why is this bad", "Example", "Use instead"];
            assert_eq!(headings, expected, "{rule}");
            assert!(rule.summary().ends_with('.'), "{rule}");
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
        let names: Vec<_> = Rule::ALL.iter().map(|rule| rule.name()).collect();
        assert_eq!(names, files);
        let variant = |rule: &Rule| format!("{rule:?}").to_lowercase();
        for rule in Rule::ALL {
            assert_eq!(variant(rule), rule.name().replace('-', ""), "the variant of its file");
        }
    }

    #[test]
    fn a_rule_is_written_and_read_by_its_name() {
        for &rule in Rule::ALL {
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.name());
            assert_eq!(serde_json::from_value::<Rule>(rule.name().into()).unwrap(), rule);
        }
        let unknown = serde_json::from_str::<Rule>("\"no-such\"").unwrap_err().to_string();
        assert!(unknown.starts_with("there is no rule `no-such`"), "{unknown}");
        assert_eq!(Rule::nearest("missing-tll"), Some(Rule::MissingTtl));
    }
}
