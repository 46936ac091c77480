//! Jobs that are done, jobs that fail, and jobs that wait.

use super::ADA;
use super::content::exists;
use super::harness::{App, Client, server};
use keyward_testkit::{Flavor, Server, wait_until};
use serde_json::{Value, json};

#[test]
fn a_job_is_done_or_ends_among_the_dead_letters() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let server = server(flavor);
        let mut app = App::start(Some(&server));
        let ada = app.of(ADA);
        let done = push(&ada, "thumbnail", "long-tide");
        let status = ended(&ada, &server, "thumbnail", &done);
        assert_eq!((&status["status"], &status["error"]), (&json!("completed"), &json!(null)));
        assert!(status["started_at"].is_string() && status["completed_at"].is_string());

        // Fatal at once, and after three attempts.
        let fatal = push(&ada, "thumbnail", "nothing");
        let status = ended(&ada, &server, "thumbnail", &fatal);
        assert_eq!(
            (&status["status"], &status["error"]),
            (&json!("failed"), &json!("there is no such title"))
        );
        let failed = push(&ada, "transcode", "long-tide");
        let status = ended(&ada, &server, "transcode", &failed);
        assert_eq!(
            (&status["status"], &status["error"]),
            (&json!("failed"), &json!("this example has no transcoder"))
        );
        let dead = |attempts| json!([{ "id": failed, "error": "this example has no transcoder", "attempts": attempts }]);
        let queue = ada.get("/jobs/transcode").is(200).json();
        assert_eq!(queue, json!({ "waiting": 0, "running": 0, "paused": false, "dead": dead(3) }));

        // Again, and it fails again.
        assert_eq!(
            ada.post("/jobs/transcode/requeue", json!({})).is(200).json(),
            json!({ "requeued": 1 })
        );
        wait_until("it has failed again", || {
            server.command(&["LLEN", "queue:dlq:transcode"]).integer() == 1
        });

        // A paused queue keeps its jobs, also over a restart.
        ada.put("/jobs/thumbnail/paused", json!({ "paused": true })).is(204);
        let waiting = push_two(&ada);
        assert!(exists(&server, "queue:job:thumbnail"));
        assert_eq!(ada.get(&format!("/jobs/thumbnail/{waiting}")).json()["status"], "pending");
        ada.get("/jobs/anything").is(404);
        drop(ada);
        assert!(app.stop().success());
        let app = App::start(Some(&server));
        let ada = app.of(ADA);
        ada.put("/jobs/thumbnail/paused", json!({ "paused": false })).is(204);
        assert_eq!(ended(&ada, &server, "thumbnail", &waiting)["status"], "completed");
    }
}

/// Pushes to a paused queue. An idle worker that has not noticed the pause may move one job from the list, but not both.
pub(crate) fn push_two(client: &Client<'_>) -> String {
    push(client, "thumbnail", "two-keys");
    push(client, "thumbnail", "night-ferry")
}

/// The id of a job.
pub(crate) fn push(client: &Client<'_>, job_type: &str, title: &str) -> String {
    let pushed =
        client.post(&format!("/jobs/{job_type}"), json!({ "content_id": title, "width": 320 }));
    pushed.is(202).json()["job_id"].as_str().unwrap().to_owned()
}

/// How a job ended.
pub(crate) fn ended(client: &Client<'_>, server: &Server, job_type: &str, id: &str) -> Value {
    wait_until("the job has ended", || {
        let status = server.command(&["HGET", &format!("job:status:{id}"), "status"]).text();
        status == "completed" || status == "failed"
    });
    client.get(&format!("/jobs/{job_type}/{id}")).is(200).json()
}
