//! Which keys a command is about.

use clap::Args as ClapArgs;
use keyward_schema::model::Lifecycle;

/// Which definitions.
#[derive(Debug, ClapArgs)]
#[group(id = "selection", multiple = true)]
pub(crate) struct Selection {
    /// Only definitions of this group
    #[arg(long = "group", value_name = "GROUP")]
    pub(crate) groups: Vec<String>,
    /// Only definitions of this lifecycle
    #[arg(long = "lifecycle", value_name = "LIFECYCLE", value_parser = lifecycle())]
    pub(crate) lifecycles: Vec<Lifecycle>,
    /// Only definitions of this owner
    #[arg(long = "owner", value_name = "OWNER")]
    pub(crate) owners: Vec<String>,
}

/// Values for the parameters of the prefix.
#[derive(Debug, ClapArgs)]
pub(crate) struct Prefix {
    /// A value for a parameter of the prefix: `tenant=acme`
    #[arg(long = "bind", value_name = "PARAM=VALUE", value_parser = binding)]
    pub(crate) bindings: Vec<Binding>,
}

/// `param=value`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) param: String,
    pub(crate) value: String,
}

pub(super) fn binding(text: &str) -> Result<Binding, String> {
    match text.split_once('=') {
        Some((param, value)) if !param.is_empty() => {
            Ok(Binding { param: param.to_owned(), value: value.to_owned() })
        }
        _ => Err("write it as `param=value`".to_owned()),
    }
}

fn lifecycle() -> impl clap::builder::TypedValueParser<Value = Lifecycle> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    PossibleValuesParser::new(Lifecycle::ALL.map(Lifecycle::name)).map(|name| {
        let named = Lifecycle::ALL.into_iter().find(|lifecycle| lifecycle.name() == name);
        named.unwrap_or(Lifecycle::Cache)
    })
}
