//! Every word of a page that does not come from the schema, once for each language.
//!
//! [`Words`] is one struct, so that a word that nobody translated does not compile. In a phrase,
//! `{0}` and `{1}` stand for what is filled in, and backticks for code.

mod de;
mod en;
mod id;
mod zh;

use serde::Serialize;

/// A language that pages are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Locale {
    /// English
    #[default]
    En,
    /// German
    De,
    /// Chinese, simplified
    Zh,
    /// Indonesian
    Id,
}

impl Locale {
    /// All of them.
    pub const ALL: [Locale; 4] = [Locale::En, Locale::De, Locale::Zh, Locale::Id];

    /// Its code: `en`, `de`, `zh`, `id`.
    pub fn name(self) -> &'static str {
        self.words().lang
    }

    /// Its words.
    pub fn words(self) -> &'static Words {
        match self {
            Locale::En => &en::WORDS,
            Locale::De => &de::WORDS,
            Locale::Zh => &zh::WORDS,
            Locale::Id => &id::WORDS,
        }
    }
}

/// The words of one language. The English text of each says what it is for.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "the English words are their documentation")]
#[non_exhaustive]
pub struct Words {
    pub lang: &'static str,

    // Numbers
    pub thousands: &'static str,
    pub decimal: &'static str,
    pub percent: &'static str,
    pub milliseconds: [&'static str; 2],
    pub seconds: [&'static str; 2],
    pub minutes: [&'static str; 2],
    pub hours: [&'static str; 2],
    pub days: [&'static str; 2],
    pub list_comma: &'static str,
    pub list_or: &'static str,
    /// Between two sentences
    pub sentence: &'static str,
    /// Between two remarks
    pub note: &'static str,
    /// Between a label and what it labels
    pub colon: &'static str,

    // The page
    pub title: &'static str,
    pub contents: &'static str,
    pub search: &'static str,
    pub search_hint: &'static str,
    pub search_none: &'static str,
    pub copy: &'static str,
    pub copied: &'static str,
    pub menu: &'static str,
    pub theme: &'static str,
    pub skip: &'static str,
    pub generated: &'static str,
    pub do_not_edit: &'static str,
    pub regenerate: &'static str,
    pub only: &'static str,
    pub yes: &'static str,

    // Sections
    pub overview: &'static str,
    pub lifecycles: &'static str,
    pub owners: &'static str,
    pub keys: &'static str,
    pub keys_of: &'static str,
    pub keys_ungrouped: &'static str,
    pub ttls: &'static str,
    pub events: &'static str,
    pub operations: &'static str,
    pub server: &'static str,
    pub layout: &'static str,
    pub texts: &'static str,
    pub migrations: &'static str,
    pub foreign: &'static str,
    pub checklist: &'static str,
    pub accepted: &'static str,

    // The check-list
    pub item: &'static str,
    pub must: &'static str,
    pub should: &'static str,
    pub decided_by: &'static str,
    pub broken: &'static str,
    /// Of findings, after their number
    pub excepted: &'static str,
    pub by_audit: &'static str,
    pub by_review: &'static str,
    pub is_off: &'static str,

    // Labels
    pub key: &'static str,
    pub group: &'static str,
    pub owner: &'static str,
    pub contact: &'static str,
    pub lifecycle: &'static str,
    pub key_type: &'static str,
    pub ttl: &'static str,
    pub pattern: &'static str,
    pub example: &'static str,
    pub examples: &'static str,
    pub purpose: &'static str,
    pub parameter: &'static str,
    pub parameters: &'static str,
    pub meaning: &'static str,
    pub value: &'static str,
    pub field: &'static str,
    pub fields: &'static str,
    pub member: &'static str,
    pub score: &'static str,
    pub role: &'static str,
    pub bounds: &'static str,
    pub cache: &'static str,
    pub related: &'static str,
    pub invalidated_by: &'static str,
    pub derived: &'static str,
    pub derived_note: &'static str,
    pub former: &'static str,
    pub glob: &'static str,
    pub scan: &'static str,
    pub also_finds: &'static str,
    pub event: &'static str,
    pub invalidates: &'static str,
    pub when: &'static str,
    pub seconds_column: &'static str,
    pub setting: &'static str,
    pub rule: &'static str,
    pub reason: &'static str,
    pub subject: &'static str,
    pub whole_keyspace: &'static str,
    pub needs: &'static str,
    pub slot: &'static str,
    pub words: &'static str,
    pub software: &'static str,
    pub old_name: &'static str,
    pub new_name: &'static str,
    pub phase: &'static str,
    pub started: &'static str,
    pub remove_after: &'static str,
    pub optional: &'static str,
    pub required: &'static str,

    // The keyspace
    pub prefix: &'static str,
    pub no_prefix: &'static str,
    pub separator: &'static str,
    pub case: &'static str,
    pub case_lower: &'static str,
    pub case_any: &'static str,
    pub database: &'static str,
    pub cluster: &'static str,
    pub max_key_len: &'static str,
    pub bytes: &'static str,
    pub count_definitions: [&'static str; 2],
    pub count_events: [&'static str; 2],
    pub defaults: &'static str,
    pub default_max_len: &'static str,
    pub default_max_bytes: &'static str,
    pub default_jitter: &'static str,

    // Lifecycles
    pub protected: &'static str,
    pub retained: &'static str,
    pub session: &'static str,
    pub cached: &'static str,
    pub temporary: &'static str,
    pub protected_means: &'static str,
    pub retained_means: &'static str,
    pub session_means: &'static str,
    pub cached_means: &'static str,
    pub temporary_means: &'static str,
    pub protected_needs: &'static str,
    pub retained_needs: &'static str,
    pub any_policy: &'static str,
    pub fits: &'static str,
    pub fits_not: &'static str,

    // TTL
    pub never: &'static str,
    pub unstated: &'static str,
    pub range: &'static str,
    pub by_param: &'static str,
    pub by_caller: &'static str,
    pub by_caller_at_most: &'static str,
    pub jitter: &'static str,
    pub sliding: &'static str,
    pub keep: &'static str,
    pub field_ttl: &'static str,

    // Types of keys
    pub type_string: &'static str,
    pub type_hash: &'static str,
    pub type_list: &'static str,
    pub type_set: &'static str,
    pub type_zset: &'static str,
    pub type_stream: &'static str,
    pub type_bitmap: &'static str,
    pub type_hyperloglog: &'static str,
    pub type_geo: &'static str,
    pub type_module: &'static str,

    // Values
    pub text: &'static str,
    pub int: &'static str,
    pub uint: &'static str,
    pub float: &'static str,
    pub bool: &'static str,
    pub uuid: &'static str,
    pub timestamp: &'static str,
    pub date: &'static str,
    pub unix: &'static str,
    pub unix_ms: &'static str,
    pub raw_bytes: &'static str,
    pub always: &'static str,
    pub one_of: &'static str,
    pub json: &'static str,
    pub json_named: &'static str,
    pub json_array: &'static str,
    pub zstd: &'static str,
    pub value_of: &'static str,
    pub key_of: &'static str,
    pub open_fields: &'static str,
    pub others_of: &'static str,
    pub each_entry: &'static str,

    // Types of parameters
    pub param_text: &'static str,
    pub param_uuid: &'static str,
    pub param_int: &'static str,
    pub param_uint: &'static str,
    pub param_digits: &'static str,
    pub param_hex: &'static str,
    pub param_hex_exactly: &'static str,
    pub param_word: &'static str,
    pub param_slug: &'static str,
    pub param_locale: &'static str,
    pub param_date: &'static str,
    pub param_unix: &'static str,
    pub param_unix_ms: &'static str,
    pub param_ip: &'static str,
    pub param_raw_ip: &'static str,
    pub param_ulid: &'static str,
    pub param_email: &'static str,
    pub param_base64url: &'static str,
    pub param_base64url_exactly: &'static str,
    pub param_alnum: &'static str,
    pub param_alnum_exactly: &'static str,
    pub param_encoded: &'static str,
    pub param_regex: &'static str,
    pub param_key: &'static str,
    pub param_rest: &'static str,
    pub param_tag: &'static str,
    pub param_lower: &'static str,
    pub param_without: &'static str,
    pub param_encode: &'static str,
    pub param_prefix: &'static str,

    // Roles
    pub counter: &'static str,
    pub counter_negative: &'static str,
    pub quota: &'static str,
    pub quota_window: &'static str,
    pub quota_caller: &'static str,
    pub quota_caller_window: &'static str,
    pub rate_limit: &'static str,
    pub rate_limit_caller: &'static str,
    pub fixed_window: &'static str,
    pub sliding_window: &'static str,
    pub gcra: &'static str,
    pub outage_open: &'static str,
    pub outage_closed: &'static str,
    pub lock: &'static str,
    pub lock_holders: &'static str,
    pub lock_fair: &'static str,
    pub lock_replicas: &'static str,
    pub queue: &'static str,
    pub queue_dead_letter: &'static str,
    pub queue_status: &'static str,
    pub session_role: &'static str,
    pub session_index: &'static str,
    pub session_revoked: &'static str,
    pub session_max_age: &'static str,
    pub session_touched: &'static str,
    pub refresh_token: &'static str,
    pub token_touched: &'static str,
    pub index: &'static str,
    pub index_by: &'static str,
    pub index_reverse: &'static str,
    pub flag: &'static str,
    pub flag_override: &'static str,
    pub flag_on: &'static str,
    pub flag_off: &'static str,
    pub ranking: &'static str,
    pub ties_first: &'static str,
    pub ties_last: &'static str,
    pub of_dead_letter: &'static str,
    pub of_status: &'static str,
    pub of_session_index: &'static str,
    pub of_revoked: &'static str,
    pub of_index: &'static str,
    pub of_reverse: &'static str,
    pub of_override: &'static str,
    pub inverse: &'static str,
    pub symmetric: &'static str,
    pub closure: &'static str,
    pub same_keys: &'static str,
    pub of_closure: &'static str,

    // Bounds and caches
    pub max_len_trim: &'static str,
    pub max_len_keep_first: &'static str,
    pub max_len_keep_last: &'static str,
    pub max_len_refuse: &'static str,
    pub max_bytes: &'static str,
    pub l1: &'static str,
    pub early_refresh: &'static str,
    pub stale_if_error: &'static str,
    pub stale_if_slow: &'static str,
    pub negative_ttl: &'static str,
    pub load_lock: &'static str,
    pub spring_cache: &'static str,

    // Invalidation
    pub by_index: &'static str,
    pub by_scan: &'static str,
    pub unresolved: &'static str,
    pub refreshed: &'static str,

    // Derived keys
    pub lease: &'static str,
    pub derived_index: &'static str,
    pub stale_copy: &'static str,
    pub nothing_mark: &'static str,
    pub due_mark: &'static str,
    pub revoked_mark: &'static str,
    pub until_mark: &'static str,
    pub ends_mark: &'static str,
    pub token_mark: &'static str,
    pub changes_mark: &'static str,
    pub versions_mark: &'static str,
    pub version_mark: &'static str,
    pub fence: &'static str,
    pub waiters: &'static str,
    pub alive: &'static str,
    pub queue_jobs: &'static str,
    pub queue_taken: &'static str,
    pub queue_leases: &'static str,
    pub queue_due: &'static str,
    pub queue_ready: &'static str,
    pub queue_done: &'static str,
    pub queue_letters: &'static str,

    // Migrations
    pub dual_write: &'static str,
    pub read_fallback: &'static str,
    pub cleanup: &'static str,
    pub json_to_hash: &'static str,
    pub hash_to_json: &'static str,
    pub set_to_sorted_set: &'static str,
    pub set_to_sorted_set_now: &'static str,
    pub lower_case: &'static str,
    pub recase_lower: &'static str,
    pub recase_upper: &'static str,
    pub from_database: &'static str,
    pub moved_by_plan: &'static str,
    pub old_ttl: &'static str,
    pub quiet: &'static str,
    pub plans: &'static str,
    pub plans_ask_owners: &'static str,

    // Layout
    pub text_for: &'static str,
    pub text_source: &'static str,
    pub text_result: &'static str,
    pub text_unicode: &'static str,
    pub text_markdown: &'static str,
    pub text_lower: &'static str,
    pub text_abbreviations: &'static str,
    pub text_numbers_de: &'static str,
    pub text_numbers_en: &'static str,
    pub text_letters: &'static str,
    pub text_symbols: &'static str,
    pub text_no_symbols: &'static str,
    pub text_spaces: &'static str,
    pub text_stop_words: &'static str,
    pub text_words: &'static str,
    pub text_cut: &'static str,
    pub text_vowels: &'static str,
    pub text_trim: &'static str,
    pub text_fallback: &'static str,
    pub text_fallback_limit: &'static str,
    pub text_idempotent: &'static str,
    pub param_from: &'static str,

    pub layout_note: &'static str,
    pub layout_note_prefix: &'static str,
    pub slot_optional: &'static str,
    pub slot_rest: &'static str,
    pub slot_any: &'static str,
    pub slot_literal: &'static str,
    pub slot_by: &'static str,
    pub slot_used: &'static str,
    pub reserved: &'static str,

    // Operations
    pub operations_note: &'static str,
    pub operations_shell: &'static str,
    pub all_keys: &'static str,

    // Server
    pub server_note: &'static str,
    pub maxmemory: &'static str,
    pub noeviction: &'static str,
    pub allkeys: &'static str,
    pub volatile: &'static str,
    pub save: &'static str,
    pub save_off: &'static str,
    pub appendonly: &'static str,
    pub appendonly_off: &'static str,
    pub alert_memory: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use minijinja::Value;

    /// Name and text of every word.
    fn all(locale: Locale) -> Vec<(String, String)> {
        let words = Value::from_serialize(locale.words());
        let mut found = Vec::new();
        for name in words.try_iter().expect("a struct") {
            let word = words.get_item(&name).expect("its own name");
            match word.as_str() {
                Some(text) => found.push((name.to_string(), text.to_owned())),
                None => found.extend(
                    word.try_iter().expect("a pair").map(|it| (name.to_string(), it.to_string())),
                ),
            }
        }
        found
    }

    #[test]
    fn every_language_has_every_word_with_the_same_gaps() {
        let gaps = |text: &str| {
            let count = |gap: &str| text.contains(gap);
            [count("{0}"), count("{1}"), count("{2}")]
        };
        for locale in Locale::ALL {
            for ((name, english), (_, text)) in all(Locale::En).iter().zip(all(locale)) {
                assert!(!text.is_empty(), "{}: {name} is empty", locale.name());
                assert_eq!(gaps(&text), gaps(english), "{}: {name}: {text}", locale.name());
                assert!(text.matches('`').count() % 2 == 0, "{}: {name}: {text}", locale.name());
            }
        }
    }

    #[test]
    fn no_sentence_was_left_in_english() {
        for locale in [Locale::De, Locale::Zh, Locale::Id] {
            // Terms are the same in many languages, sentences are not.
            let is_sentence = |text: &str| text.matches(' ').count() >= 3;
            let same: Vec<String> = all(Locale::En)
                .into_iter()
                .zip(all(locale))
                .filter(|((_, english), (_, text))| english == text && is_sentence(english))
                .map(|((name, _), _)| name)
                .collect();
            assert!(same.is_empty(), "{}: {same:?}", locale.name());
        }
    }
}
