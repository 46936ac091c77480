use crate::flavor::Flavor;
use crate::options::Mode;
use crate::server::Server;
use crate::wait::{PATIENCE, wait_until, wait_up_to};

/// A primary, its replica, and one sentinel that watches them and decides alone.
///
/// ```no_run
/// use keyward_testkit::{Flavor, Sentinel};
///
/// let watched = Sentinel::start(Flavor::Redis);
/// watched.primary().kill();
/// watched.wait_until_failed_over();
/// assert_eq!(watched.current().port(), watched.replica().port());
/// ```
#[derive(Debug)]
pub struct Sentinel {
    primary: Server,
    replica: Server,
    watcher: Server,
}

impl Sentinel {
    /// The name under which the sentinel knows the primary.
    pub const NAME: &'static str = "keyward";

    /// Starts all three and waits until the sentinel knows the replica.
    ///
    /// # Panics
    ///
    /// When a server does not start or they do not find each other within a minute.
    #[track_caller]
    pub fn start(flavor: Flavor) -> Self {
        let primary = flavor.start();
        let replica = flavor.server().replica_of(&primary).start();
        wait_until("the replica is in sync", || replica.is_in_sync());

        let name = Self::NAME;
        let watcher = flavor
            .server()
            .mode(Mode::Sentinel)
            .config("sentinel", &format!("monitor {name} 127.0.0.1 {} 1", primary.port()))
            // As long as a cluster node's timeout, for the same reasons.
            .config("sentinel", &format!("down-after-milliseconds {name} 2000"))
            .config("sentinel", &format!("failover-timeout {name} 10000"))
            .start();
        let watched = Self { primary, replica, watcher };
        wait_until("the sentinel sees a healthy replica", || {
            let seen = watched.watcher.command(&["SENTINEL", "REPLICAS", name]).array();
            seen.len() == 1 && format!("{seen:?}").contains(&format!("{:?}", b"ok"))
        });
        watched
    }

    /// The server that started as the primary.
    pub fn primary(&self) -> &Server {
        &self.primary
    }

    /// The server that started as the replica.
    pub fn replica(&self) -> &Server {
        &self.replica
    }

    /// The sentinel itself.
    pub fn sentinel(&self) -> &Server {
        &self.watcher
    }

    /// The server that the sentinel calls the primary now.
    ///
    /// # Panics
    ///
    /// When the sentinel does not answer.
    #[track_caller]
    pub fn current(&self) -> &Server {
        let reply = self.watcher.command(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", Self::NAME]);
        let port = reply.array().pop().expect("an address ends with a port").text();
        if port == self.replica.port().to_string() { &self.replica } else { &self.primary }
    }

    /// Waits until the replica has all that was written to the primary until now.
    ///
    /// # Panics
    ///
    /// When that takes more than a minute.
    #[track_caller]
    pub fn wait_until_replicated(&self) {
        self.primary.wait_until_replicated(&self.replica);
    }

    /// Waits until the replica has been promoted.
    ///
    /// # Panics
    ///
    /// When that takes more than two minutes; the message holds the sentinel's log.
    #[track_caller]
    pub fn wait_until_failed_over(&self) {
        // A sentinel that was held up for two seconds does nothing for 30 s, and after a failover that came to nothing it
        // waits for 20 s.
        let promoted = wait_up_to(2 * PATIENCE, || {
            let promoted = self.current().port() == self.replica.port();
            (promoted && self.replica.is_primary()).then_some(())
        });
        let log = || self.watcher.log();
        assert!(promoted.is_some(), "the sentinel has not promoted the replica:\n{}", log());
    }
}
