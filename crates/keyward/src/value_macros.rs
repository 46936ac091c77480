//! What the types that a schema declares have in common: generated code calls these macros for each.

/// The ways in and out of a text that is checked by a language of the tables.
#[macro_export]
#[doc(hidden)]
macro_rules! __text_value {
    ($ty:path, $keyspace:ty, $param:expr, $language:literal, $encoded:literal) => {
        impl $ty {
            /// The text, if it is a value of this type.
            pub fn new(
                text: impl ::core::convert::AsRef<str>,
            ) -> ::core::result::Result<Self, $crate::ValueError> {
                $crate::generated::value_of(
                    <$keyspace as $crate::Keyspace>::tables(),
                    $param,
                    text.as_ref(),
                )
            }

            /// The text.
            #[inline]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl $crate::ParamValue for $ty {
            fn text(&self) -> ::std::string::String {
                ::std::clone::Clone::clone(&self.0)
            }

            #[inline]
            fn spell(&self, out: &mut ::std::string::String) {
                if $encoded {
                    <$keyspace as $crate::Keyspace>::tables().spell($language, &self.0, out);
                } else {
                    out.push_str(&self.0);
                }
            }

            #[inline]
            fn spelled_len(&self) -> usize {
                if $encoded {
                    <$keyspace as $crate::Keyspace>::tables().spelled_len($language, &self.0)
                } else {
                    self.0.len()
                }
            }

            fn from_normal(text: &str) -> ::core::option::Option<Self> {
                ::core::option::Option::Some(Self(::std::borrow::ToOwned::to_owned(text)))
            }

            fn unspell(spelling: &str) -> ::core::option::Option<Self> {
                if $encoded {
                    let tables = <$keyspace as $crate::Keyspace>::tables();
                    let value = tables.unspell($language, spelling)?;
                    ::core::option::Option::Some(Self(value.into_owned()))
                } else {
                    Self::from_normal(spelling)
                }
            }
        }

        impl ::core::convert::AsRef<str> for $ty {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl ::core::convert::TryFrom<&str> for $ty {
            type Error = $crate::ValueError;

            fn try_from(text: &str) -> ::core::result::Result<Self, $crate::ValueError> {
                Self::new(text)
            }
        }

        impl ::core::convert::TryFrom<::std::string::String> for $ty {
            type Error = $crate::ValueError;

            fn try_from(
                text: ::std::string::String,
            ) -> ::core::result::Result<Self, $crate::ValueError> {
                Self::new(text)
            }
        }

        $crate::__by_text!($ty, $keyspace, $param);
    };
}

/// The ways in and out of one of a few words.
#[macro_export]
#[doc(hidden)]
macro_rules! __word_value {
    ($ty:path, $keyspace:ty, $param:expr, { $($variant:ident = $text:literal as $spelling:literal),* $(,)? }) => {
        impl $ty {
            /// All of them, in the order of the schema.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl $crate::ParamValue for $ty {
            fn text(&self) -> ::std::string::String {
                ::std::borrow::ToOwned::to_owned(self.as_str())
            }

            #[inline]
            fn spell(&self, out: &mut ::std::string::String) {
                out.push_str(match self { $(Self::$variant => $spelling),* });
            }

            #[inline]
            fn spelled_len(&self) -> usize {
                match self { $(Self::$variant => $spelling.len()),* }
            }

            fn from_normal(text: &str) -> ::core::option::Option<Self> {
                match text {
                    $($text => ::core::option::Option::Some(Self::$variant),)*
                    _ => ::core::option::Option::None,
                }
            }

            fn unspell(spelling: &str) -> ::core::option::Option<Self> {
                match spelling {
                    $($spelling => ::core::option::Option::Some(Self::$variant),)*
                    _ => ::core::option::Option::None,
                }
            }
        }

        $crate::__by_text!($ty, $keyspace, $param);
    };
}

/// What text and words have in common.
#[macro_export]
#[doc(hidden)]
macro_rules! __by_text {
    ($ty:path, $keyspace:ty, $param:expr) => {
        impl ::core::fmt::Display for $ty {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ::core::str::FromStr for $ty {
            type Err = $crate::ValueError;

            fn from_str(text: &str) -> ::core::result::Result<Self, $crate::ValueError> {
                $crate::generated::value_of(<$keyspace as $crate::Keyspace>::tables(), $param, text)
            }
        }

        impl $crate::FieldValue for $ty {
            fn to_bytes(&self) -> ::std::vec::Vec<u8> {
                ::std::borrow::ToOwned::to_owned(self.as_str().as_bytes())
            }

            fn from_bytes(bytes: &[u8]) -> ::core::option::Option<Self> {
                let text = ::core::str::from_utf8(bytes).ok()?;
                $crate::generated::value_of(<$keyspace as $crate::Keyspace>::tables(), $param, text)
                    .ok()
            }
        }
    };
}

/// A key of one of several definitions.
#[macro_export]
#[doc(hidden)]
macro_rules! __key_value {
    ($ty:path, $keyspace:ident, { $($variant:ident($key:ty)),* $(,)? }) => {
        $(impl ::core::convert::From<$key> for $ty {
            fn from(key: $key) -> Self {
                Self::$variant(key)
            }
        })*

        impl $crate::ParamValue for $ty {
            fn spell(&self, out: &mut ::std::string::String) {
                match self { $(Self::$variant(key) => $crate::Key::write_bare(key, out)),* }
            }

            fn spelled_len(&self) -> usize {
                match self { $(Self::$variant(key) => $crate::Key::bare_len(key)),* }
            }

            fn from_normal(text: &str) -> ::core::option::Option<Self> {
                match $crate::generated::read_bare::<$keyspace>(text)? {
                    $($keyspace::$variant(key) => ::core::option::Option::Some(Self::$variant(key)),)*
                    #[allow(unreachable_patterns, reason = "it may hold every key there is")]
                    _ => ::core::option::Option::None,
                }
            }
        }

        impl $crate::FieldValue for $ty {
            fn to_bytes(&self) -> ::std::vec::Vec<u8> {
                $crate::ParamValue::text(self).into_bytes()
            }

            fn from_bytes(bytes: &[u8]) -> ::core::option::Option<Self> {
                $crate::ParamValue::from_normal(::core::str::from_utf8(bytes).ok()?)
            }
        }
    };
}

/// The pipelines of a schema, each made when it is first used.
#[cfg(feature = "text")]
#[doc(hidden)]
#[macro_export]
macro_rules! __text_pipelines {
    ($($(#[$doc:meta])* $name:ident = $options:expr;)*) => {
        /// How human text becomes values.
        pub mod texts {
            $($(#[$doc])*
            pub static $name: ::std::sync::LazyLock<::keyward::text::Pipeline> =
                ::std::sync::LazyLock::new(|| ::keyward::generated::pipeline(&$options));)*
        }
    };
}

/// A value of a parameter from text.
#[cfg(feature = "text")]
#[doc(hidden)]
#[macro_export]
macro_rules! __from_text {
    ($(#[$doc:meta])* $ty:path, $pipeline:path) => {
        impl $ty {
            $(#[$doc])*
            ///
            /// A text that has no name of its own is named by the time `now`, in UTC.
            pub fn from_text(text: &str, now: ::std::time::SystemTime) -> Self {
                Self($pipeline.name(text, now))
            }
        }
    };
}

/// Nothing, beside the error of `__needs_text`.
#[cfg(not(feature = "text"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __text_pipelines {
    ($($code:tt)*) => {};
}

/// Nothing, beside the error of `__needs_text`.
#[cfg(not(feature = "text"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __from_text {
    ($($code:tt)*) => {};
}

/// Names the feature that generated code needs, where these are on and off.
macro_rules! needs {
    ($name:ident, $missing:meta, $feature:literal, $what:literal) => {
        #[cfg(not($missing))]
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $name {
            () => {};
        }

        #[cfg($missing)]
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $name {
            () => {
                ::core::compile_error!(concat!(
                    "this schema has ",
                    $what,
                    ": enable the feature `",
                    $feature,
                    "` of keyward"
                ));
            };
        }
    };
}

needs!(__needs_text, not(feature = "text"), "text", "values from text");
needs!(__needs_json, not(feature = "json"), "json", "JSON values");
// Only a store compresses.
needs!(__needs_zstd, all(feature = "store", not(feature = "zstd")), "zstd", "compressed values");
