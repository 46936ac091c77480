//! The program, started as a person would, and asked as a browser would.

use super::reed_cms::{Prefix, values};
use keyward_testkit::{Answer, Flavor, Server, wait_until};
use serde_json::{Value, json};
use std::process::{Command, ExitStatus};

/// The running application.
pub(crate) struct App(keyward_testkit::App);

/// A visitor's or an editor's browser.
#[derive(Clone)]
pub(crate) struct Client<'a> {
    app: &'a keyward_testkit::App,
    cookie: String,
}

/// A server as the schema wants it.
pub(crate) fn server(flavor: Flavor) -> Server {
    flavor.server().memory("2gb", "volatile-lru").config("appendonly", "yes").start()
}

/// The application on a server, or with one of its own.
pub(crate) fn running(server: Option<&Server>) -> keyward_testkit::App {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reed-cms"));
    command.args(server.map(Server::url)).env_remove("SITE");
    keyward_testkit::App::start(command)
}

/// What every key begins with.
pub(crate) fn prefix() -> Prefix {
    Prefix { site: values::Site::new("reed").unwrap() }
}

pub(crate) fn exists(server: &Server, key: &str) -> bool {
    server.command(&["EXISTS", key]).integer() == 1
}

impl App {
    pub(crate) fn start(server: Option<&Server>) -> Self {
        App(running(server))
    }

    pub(crate) fn visitor(&self) -> Client<'_> {
        Client { app: &self.0, cookie: String::new() }
    }

    /// Ada, who has just signed in.
    pub(crate) fn ada(&self) -> Client<'_> {
        self.visitor().signed_in("ada", "difference engine")
    }

    pub(crate) fn bob(&self) -> Client<'_> {
        self.visitor().signed_in("bob", "correct horse")
    }

    /// Everything that it has logged.
    pub(crate) fn log(&self) -> String {
        self.0.log()
    }

    /// Asks it to stop, as a service manager does, and waits until it has.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        self.0.stop()
    }
}

impl<'a> Client<'a> {
    #[track_caller]
    pub(crate) fn log_in(&self, name: &str, password: &str) -> Answer {
        let body = json!({ "name": name, "password": password });
        self.app.send("POST", "/api/login", &[], Some(body))
    }

    #[track_caller]
    fn signed_in(&self, name: &str, password: &str) -> Client<'a> {
        let answer = self.log_in(name, password).is(201);
        let cookie = answer.header("set-cookie").unwrap();
        Client { app: self.app, cookie: cookie.split(';').next().unwrap().to_owned() }
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.app.send("GET", path, &[("Cookie", &self.cookie)], None)
    }

    #[track_caller]
    pub(crate) fn put(&self, path: &str, body: Value) -> Answer {
        self.submit("PUT", path, &self.form(), Some(body))
    }

    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: Value) -> Answer {
        self.submit("POST", path, &self.form(), Some(body))
    }

    #[track_caller]
    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.submit("DELETE", path, &self.form(), None)
    }

    /// A form that can be submitted once.
    #[track_caller]
    pub(crate) fn form(&self) -> String {
        self.get("/api/form").is(200).json()["csrf"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn submit(
        &self,
        method: &str,
        path: &str,
        form: &str,
        body: Option<Value>,
    ) -> Answer {
        let headers = [("Cookie", self.cookie.as_str()), ("X-CSRF-Token", form)];
        self.app.send(method, path, &headers, body)
    }

    /// A new entity, published: its path below `/api/entities`.
    #[track_caller]
    pub(crate) fn publish(
        &self,
        type_: &str,
        template: &str,
        title: &str,
        fields: Value,
    ) -> String {
        let path = self.draft(type_, template, title, fields);
        self.set_status(&path, "published");
        path
    }

    /// A new entity: its path below `/api/entities`.
    #[track_caller]
    pub(crate) fn draft(&self, type_: &str, template: &str, title: &str, fields: Value) -> String {
        let mut writing = json!({ "template": template, "title": title });
        writing["fields"] = fields;
        let entity = self.post(&format!("/api/entities/{type_}"), writing).is(201).json();
        format!("{type_}/{}", entity["id"].as_str().unwrap())
    }

    #[track_caller]
    pub(crate) fn set_status(&self, path: &str, status: &str) {
        self.put(&format!("/api/entities/{path}/status"), json!({ "status": status })).is(204);
    }

    #[track_caller]
    pub(crate) fn name(&self, path: &str, name: &str) {
        let (type_, id) = path.split_once('/').unwrap();
        self.put(&format!("/api/names/{type_}/{name}"), json!({ "id": id })).is(204);
    }

    /// Puts an entity below another.
    #[track_caller]
    pub(crate) fn attach(&self, child: &str, parent: &str, position: i64) -> Answer {
        let mut body = reference(parent);
        body["position"] = position.into();
        self.put(&format!("/api/entities/{child}/parent"), body)
    }

    /// Waits until all tasks are done.
    #[track_caller]
    pub(crate) fn settle(&self) {
        wait_until("the queues are empty", || {
            ["indexing", "export"].iter().all(|name| {
                let queue = self.get(&format!("/api/queues/{name}")).is(200).json();
                queue["waiting"] == 0 && queue["running"] == 0
            })
        });
    }

    /// The titles that a search finds, sorted.
    #[track_caller]
    pub(crate) fn found(&self, query: &str) -> Vec<String> {
        let found = self.get(&format!("/api/search?{query}")).is(200).json();
        let mut titles = titles(&found["found"]);
        titles.sort();
        titles
    }
}

/// An entity, as requests name it.
pub(crate) fn reference(path: &str) -> Value {
    let (type_, id) = path.split_once('/').unwrap();
    json!({ "type": type_, "id": id })
}

pub(crate) fn titles(list: &Value) -> Vec<String> {
    let title = |it: &Value| it["title"].as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(title).collect()
}
