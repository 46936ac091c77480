//! Waiting for a job: BLMOVE or XREADGROUP on a connection of its own, since it keeps the connection busy.

use super::line::Line;
use crate::slot;
use crate::store::error::Error;
use redis::Cmd;
use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use std::time::Duration;
use tokio::sync::Mutex;

/// The connection of an idle worker.
#[derive(Default)]
pub(crate) struct Idle(Mutex<Option<MultiplexedConnection>>);

impl Idle {
    /// Waits until there is an entry, which is then in `~taken` or pending, or the time is over. Whoever takes next adopts it,
    /// so that nothing is lost with this worker.
    pub(crate) async fn wait(&self, line: &Line, most: Duration) -> Result<(), Error> {
        let mut kept = self.0.lock().await;
        let mut connection = if let Some(connection) = kept.take() {
            connection
        } else {
            let slot = slot(line.name().as_bytes());
            line.core.link.blocking(slot, most).await?
        };
        let answer = connection.req_packed_command(&waiting(line, most)).await;
        match answer.and_then(redis::Value::extract_error) {
            // The next take makes a group that is not there any more.
            Err(error) if error.code() == Some("NOGROUP") => {}
            // Also after MOVED: the next connection goes to the node that has the slot then.
            Err(error) => return Err(Error::from_redis(&error).about(line.definition.name)),
            Ok(_) => {}
        }
        *kept = Some(connection);
        Ok(())
    }
}

fn waiting(line: &Line, most: Duration) -> Cmd {
    if !line.is_stream() {
        let mut cmd = redis::cmd("BLMOVE");
        cmd.arg(line.name()).arg(line.taken()).arg("LEFT").arg("RIGHT").arg(most.as_secs_f64());
        return cmd;
    }
    let mut cmd = redis::cmd("XREADGROUP");
    cmd.arg("GROUP").arg("keyward").arg("keyward").arg("COUNT").arg(1);
    // 0 would be for ever.
    cmd.arg("BLOCK").arg(most.as_millis().max(1)).arg("STREAMS").arg(line.name()).arg(">");
    cmd
}
