//! Names that no other process has.

use super::error::Error;

/// What tells one lease or one attempt at a lock from every other, of any process.
pub(crate) fn secret() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::Settings(format!("the system has no random numbers: {error}")))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
