//! A server, a schema and a folder for plans.

use keyward_audit::live::Options;
use keyward_audit::{Mask, Salt};
use keyward_plan::{Applied, ApplyOptions, Control, Error, MakeOptions, Order, Plan, Undone};
use keyward_schema::Schema;
use keyward_testkit::{Cluster, Connection, Flavor, Reply, Server};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tempfile::TempDir;

pub(crate) const SCHEMA: &str = r#"
version = 1
[keyspace]
name = "shop"
prefix = "shop:"
[keys.user]
pattern = "user:{id:uint}"
type = "hash"
[keys.lock]
pattern = "lock:{name:word}"
lock = {}
ttl = "60s"
[migrations.v2]
phase = "PHASE"
[migrations.v2.renames]
user = "User:{id}"
lock = "Lock:{name}"
"#;

/// A server, or a cluster.
pub(crate) enum Host {
    One(Server),
    Many(Cluster),
}

/// Everything that a plan needs.
pub(crate) struct Bench {
    pub(crate) host: Host,
    pub(crate) schema: Schema,
    pub(crate) folder: TempDir,
    pub(crate) accept_unnamed: bool,
    pub(crate) accept_recent: bool,
    pub(crate) now: u64,
    /// Whom a plan forgets, and where that is written
    pub(crate) subject: Option<(String, String)>,
    pub(crate) export: Option<PathBuf>,
}

impl Bench {
    /// One for each kind of server.
    pub(crate) fn all(schema: &str) -> Vec<Self> {
        Server::all().map(|server| Bench::at(Host::One(server), schema)).collect()
    }

    /// On a cluster.
    pub(crate) fn cluster(flavor: Flavor, schema: &str) -> Self {
        Bench::at(Host::Many(Cluster::start(flavor)), schema)
    }

    pub(crate) fn at(host: Host, schema: &str) -> Self {
        Bench {
            host,
            schema: read(schema),
            folder: tempfile::tempdir().unwrap(),
            accept_unnamed: true,
            accept_recent: true,
            now: keyward_audit::now(),
            subject: None,
            export: None,
        }
    }

    pub(crate) fn schema(&mut self, text: &str) {
        self.schema = read(text);
    }

    pub(crate) fn redis(&self, args: &[&str]) -> Reply {
        match &self.host {
            Host::One(server) => server.command(args),
            Host::Many(cluster) => {
                // Every command here has its key behind its name.
                cluster.primary_of(args[1]).command(args)
            }
        }
    }

    pub(crate) fn connect(&self) -> Connection {
        match &self.host {
            Host::One(server) => server.connect(),
            Host::Many(cluster) => cluster.nodes()[0].connect(),
        }
    }

    pub(crate) fn url(&self) -> String {
        match &self.host {
            Host::One(server) => server.url(),
            Host::Many(cluster) => cluster.nodes()[0].url().replace("redis://", "redis+cluster://"),
        }
    }

    /// The plan of all migrations, as it is read back from its file.
    pub(crate) fn plan(&self) -> Plan {
        let migrations = self.schema.migrations.iter();
        let migrations =
            migrations.map(|it| (it.name.value.clone(), it.phase.name().to_owned())).collect();
        let order = Order::Migrate { migrations, values: BTreeMap::new(), remove_lone: false };
        self.plan_of(order).unwrap()
    }

    pub(crate) fn plan_of(&self, order: Order) -> Result<Plan, Error> {
        let mut options = MakeOptions::new(Options::default(), self.now);
        options.subject.clone_from(&self.subject);
        options.export.clone_from(&self.export);
        let plan = keyward_plan::make(
            &self.url(),
            &self.schema,
            order,
            &options,
            &self.mask(),
            &Control::default(),
        )?;
        let path = self.path();
        plan.write(&path)?;
        Plan::read(&path)
    }

    pub(crate) fn apply(&self, plan: &Plan) -> Result<Applied, Error> {
        let (url, control) = (self.url(), Control::default());
        keyward_plan::apply(plan, &url, &self.schema, &self.options(plan), &self.mask(), &control)
    }

    pub(crate) fn undo(&self, plan: &Plan) -> Result<Undone, Error> {
        let (url, control) = (self.url(), Control::default());
        keyward_plan::undo(plan, &url, &self.schema, &self.options(plan), &self.mask(), &control)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("plan.json")
    }

    pub(crate) fn options(&self, plan: &Plan) -> ApplyOptions {
        let journal = self.folder.path().join(format!("{}.journal", plan.id));
        let mut options = ApplyOptions::new(Options::default(), journal, self.now);
        options.accept_unnamed = self.accept_unnamed;
        options.accept_recent = self.accept_recent;
        options.subject.clone_from(&self.subject);
        options.export.clone_from(&self.export);
        options
    }

    fn mask(&self) -> Mask {
        Mask::new(Salt::of("test"), false, std::slice::from_ref(&self.schema))
    }
}

fn read(schema: &str) -> Schema {
    let loaded = keyward_schema::read(schema);
    loaded.schema.unwrap_or_else(|errors| panic!("{errors:?}"))
}
