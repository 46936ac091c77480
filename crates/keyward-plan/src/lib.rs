//! Changes a keyspace by reviewed plans.
//!
//! A [`Plan`] is a file: what was asked for, what it would change, and on which servers. [`make`] only reads.
//! [`apply`] works everything out again from the schema, shows every key of the servers to it, and changes each
//! in one step at the server that first checks what must hold. What it is about to change is noted in a journal
//! before, so that [`undo`] can take it back. Nothing is remembered between two runs but what the servers say: a
//! plan that was killed is applied again, and one that was applied twice has changed nothing the second time.
#![deny(missing_docs)]

mod apply;
mod certificate;
mod change;
mod content;
mod control;
mod document;
mod error;
mod export;
mod fleet;
mod history;
mod identity;
mod journal;
mod lag;
mod lint;
mod make;
mod memory;
mod order;
mod pass;
mod recognise;
mod router;
mod script;
mod shard;
mod status;
mod subject;
mod undo;
mod work;

pub use apply::{Applied, ApplyOptions, apply};
pub use certificate::{Certificate, Erased, NotSearched};
pub use control::{Control, Progress};
pub use document::{Approval, Estimate, LONE, Plan, Row, SchemaId, ServerId, VERSION};
pub use error::Error;
pub use fleet::{Fleet, fleet};
pub use lint::{Remark, lint};
pub use make::{MakeOptions, make};
pub use order::{Buried, Order, Target};
pub use status::{RenameStatus, Status, status};
pub use subject::Subject;
pub use undo::{Undone, undo};
pub use work::{repairable, repaired};
