//! Waiting for a job: BLMOVE on a connection of its own, since it keeps the connection busy.

use super::line::Line;
use crate::slot;
use crate::store::error::Error;
use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use std::time::Duration;
use tokio::sync::Mutex;

/// The connection of an idle worker.
#[derive(Default)]
pub(crate) struct Idle(Mutex<Option<MultiplexedConnection>>);

impl Idle {
    /// Waits until there is an entry on the list, which is then in `~taken`, or the time is over. Whoever takes next adopts
    /// it, so that nothing is lost with this worker.
    pub(crate) async fn wait(&self, line: &Line, most: Duration) -> Result<(), Error> {
        let mut kept = self.0.lock().await;
        let mut connection = if let Some(connection) = kept.take() {
            connection
        } else {
            let slot = slot(line.list().as_bytes());
            line.core.link.blocking(slot, most).await?
        };
        let mut cmd = redis::cmd("BLMOVE");
        cmd.arg(line.list()).arg(line.taken()).arg("LEFT").arg("RIGHT").arg(most.as_secs_f64());
        let answer = connection.req_packed_command(&cmd).await;
        match answer.and_then(redis::Value::extract_error) {
            Ok(_) => {
                *kept = Some(connection);
                Ok(())
            }
            // Also after MOVED: the next connection goes to the node that has the slot then.
            Err(error) => Err(Error::from_redis(&error).about(line.definition.name)),
        }
    }
}
