//! How a command connects to a server.

use crate::args::Connect;
use crate::failure::{Failure, Result};
use crate::files;
use keyward_audit::live::{Error, Options, Secret, Tls};
use std::env;

/// Where a password is looked for that is neither in the URL nor in a file.
const PASSWORD: &str = "KEYWARD_PASSWORD";

/// The largest file that is read for a password.
const MAX_PASSWORD: u64 = 64 * 1024;

/// The largest file of certificates, or with a key.
const MAX_TLS: u64 = 16 * 1024 * 1024;

/// Options with who connects; everything else is the default.
pub(super) fn options(args: &Connect) -> Result<Options> {
    // Better now than when the server has answered.
    for path in [&args.tls_ca, &args.tls_cert, &args.tls_key].into_iter().flatten() {
        files::read_file(path, MAX_TLS)?;
    }
    let mut tls = Tls::default();
    tls.authority.clone_from(&args.tls_ca);
    tls.client = args.tls_cert.clone().zip(args.tls_key.clone());
    let mut options = Options::default();
    options.tls = tls;
    options.user.clone_from(&args.user);
    options.password = password(args)?;
    Ok(options)
}

fn password(args: &Connect) -> Result<Option<Secret>> {
    let Some(path) = &args.password_file else {
        return Ok(env::var(PASSWORD).ok().map(Secret::new));
    };
    let text = files::read_stream(path, MAX_PASSWORD)?;
    let text = String::from_utf8(text).map_err(|_| {
        Failure::new(format!("cannot read `{}`: it is not UTF-8 text", path.display()))
    })?;
    Ok(Some(Secret::new(text.lines().next().unwrap_or_default())))
}

/// A failure for an error of the server: nothing partial is printed.
pub(super) fn refused(error: &Error) -> Failure {
    let failure = if error.is_usage() {
        Failure::new(error.to_string())
    } else {
        Failure::incomplete(error.to_string())
    };
    failure.help(error.help())
}
