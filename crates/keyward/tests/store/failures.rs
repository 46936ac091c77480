//! Errors: each is counted, and the first of a series is logged.

use super::everything::keys;
use super::{load, patient};
use keyward::Store;
use keyward_testkit::Server;
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Every way to fail that a server has by itself, each twice.
async fn fail(server: &Server, store: &Store) {
    for _ in 0..2 {
        // Another type than was declared: alone and in a pipeline.
        server.command(&["RPUSH", "ev:text:1", "a"]);
        store.at(keys::Text { id: 1 }).get().await.unwrap_err();
        let mut batch = store.pipeline();
        let text = batch.add(store.at(keys::Text { id: 1 }).get());
        batch.run().await.unwrap().take(text).unwrap_err();
        // A loader's caller gets its value, and the error is counted.
        assert_eq!(load(store, 1, "from the database").await, "from the database");
        // A value that is not what was declared: among many, and alone.
        server.command(&[b"SET".as_slice(), b"ev:text:2", b"\xff"]);
        store.get_many([keys::Text { id: 2 }]).await.unwrap_err();
        server.command(&["SET", "ev:hits:1", "many"]);
        store.at(keys::Hits { id: 1 }).get().await.unwrap_err();
        // What the server refuses.
        store.at(keys::Hits { id: 1 }).add(1).await.unwrap_err();
        server.command(&["DEL", "ev:text:1"]);
    }
}

#[test]
fn every_error_is_counted_by_definition_and_kind_and_the_first_of_a_series_is_logged() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), || {
        metrics::with_local_recorder(&recorder, || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let server = Server::redis();
                let store = patient(&server).await;
                fail(&server, &store).await;
            });
        });
    });
    let counted = snapshotter.snapshot().into_vec().into_iter();
    let mut counted: Vec<String> = counted
        .filter(|(key, ..)| key.key().name() == "keyward_errors_total")
        .map(|(key, _, _, value)| {
            let labels: Vec<&str> = key.key().labels().map(metrics::Label::value).collect();
            let DebugValue::Counter(count) = value else { panic!("{value:?}") };
            format!("{} {count}", labels.join(" "))
        })
        .collect();
    counted.sort();
    insta::assert_snapshot!(counted.join("\n"), @r"
    hits malformed 4
    text malformed 2
    text wrong_type 6
    ");
    let logged = log.lines.lock().unwrap();
    insta::assert_snapshot!(logged.join("\n"), @r#"
    definition="text" kind="wrong_type" error=the key of `text` holds another type than was declared
    definition="text" kind="malformed" error=the value of `text` is not what was declared: the bytes are not a value of its type
    definition="hits" kind="malformed" error=the value of `hits` is not what was declared: the bytes are not a value of its type
    "#);
}

/// Keeps the warnings of this crate.
#[derive(Clone, Default)]
struct Log {
    lines: Arc<Mutex<Vec<String>>>,
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "keyward" && *metadata.level() <= Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        self.lines.lock().unwrap().push(line.0.trim_end().to_owned());
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() != "message" {
            write!(self.0, "{}={value:?} ", field.name()).unwrap();
        }
    }
}
