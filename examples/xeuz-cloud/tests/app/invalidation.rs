//! Section 3 of the convention: what makes which key invalid. The keys are looked for in Redis itself,
//! where they were before, and are not after.

use super::harness::{App, redis};
use super::xeuz_cloud::keys;
use super::{ADA, BOB, id};
use keyward_testkit::{Flavor, Server};
use serde_json::json;

const FOLDER: u128 = 1;
const INNER: u128 = 2;
const OTHER: u128 = 3;
const FILE: u128 = 11;

/// Everything is cached that the tests below change.
struct Warm {
    redis: Server,
    app: App,
}

impl Warm {
    fn up() -> Self {
        let redis = redis(Flavor::Redis);
        let app = App::start(&redis.url()).with_people();
        app.add_folder(ADA, id(FOLDER), ADA, "folder").is(201);
        app.add_folder(ADA, id(INNER), id(FOLDER), "inner").is(201);
        app.add_folder(ADA, id(OTHER), ADA, "other").is(201);
        app.upload(ADA, id(FILE), id(FOLDER), "file.pdf", 100).is(201);
        app.put(ADA, &share(), json!({ "permission": "viewer" })).is(204);
        let warm = Warm { redis, app };
        warm.cache_everything();
        warm
    }

    fn cache_everything(&self) {
        for folder in [ADA, id(FOLDER), id(INNER), id(OTHER)] {
            self.app.names(ADA, folder);
        }
        for folder in [id(FOLDER), id(INNER)] {
            self.app.permission(BOB, folder).unwrap();
        }
        self.app.permission(BOB, BOB).unwrap();
        self.app.get(ADA, &format!("/files/{}", id(FILE))).is(200);
    }

    fn is_cached(&self, key: &str) -> bool {
        self.redis.command(&["EXISTS", key]).integer() == 1
    }

    /// Does something, and checks that exactly these of the keys that were there are gone.
    #[track_caller]
    fn removes(&self, what: impl FnOnce(&App), removed: &[String]) {
        let all = cached();
        for key in &all {
            assert!(self.is_cached(key), "{key} should be cached before");
        }
        what(&self.app);
        let gone: Vec<&String> = all.iter().filter(|key| !self.is_cached(key)).collect();
        let removed: Vec<&String> = all.iter().filter(|key| removed.contains(key)).collect();
        assert_eq!(gone, removed);
    }
}

fn listing(folder: u128) -> String {
    keys::FolderListing { folder_id: id(folder) }.key()
}

fn meta() -> String {
    keys::FileMeta { file_id: id(FILE) }.key()
}

fn permission(folder_id: keyward::Uuid) -> String {
    keys::Permission { folder_id, user_id: BOB }.key()
}

fn cached() -> Vec<String> {
    vec![
        listing(ADA.as_u128()),
        listing(FOLDER),
        listing(INNER),
        listing(OTHER),
        meta(),
        permission(id(FOLDER)),
        permission(id(INNER)),
        permission(BOB),
    ]
}

fn share() -> String {
    format!("/folders/{}/shares/{BOB}", id(FOLDER))
}

#[test]
fn an_upload_and_a_subfolder_change_one_listing() {
    let warm = Warm::up();
    let upload = |app: &App| _ = app.upload(ADA, id(12), id(FOLDER), "b.pdf", 1).is(201);
    warm.removes(upload, &[listing(FOLDER)]);
    assert_eq!(warm.app.names(ADA, id(FOLDER)), ["inner", "b.pdf", "file.pdf"]);
    let subfolder = |app: &App| _ = app.add_folder(ADA, id(4), id(INNER), "deeper").is(201);
    warm.removes(subfolder, &[listing(INNER)]);
    assert_eq!(warm.app.names(ADA, id(INNER)), ["deeper"]);
}

#[test]
fn a_rename_changes_the_listing_and_the_files_metadata() {
    let warm = Warm::up();
    let name = json!({ "name": "new" });
    let file =
        |app: &App| _ = app.put(ADA, &format!("/files/{}/name", id(FILE)), name.clone()).is(204);
    warm.removes(file, &[listing(FOLDER), meta()]);
    warm.cache_everything();
    let folder =
        |app: &App| _ = app.put(ADA, &format!("/folders/{}/name", id(INNER)), name.clone()).is(204);
    warm.removes(folder, &[listing(FOLDER)]);
    assert_eq!(warm.app.names(ADA, id(FOLDER)), ["new", "new"]);
    assert_eq!(warm.app.get(ADA, &format!("/files/{}", id(FILE))).json()["name"], "new");
}

#[test]
fn a_move_changes_both_listings() {
    let warm = Warm::up();
    let to = json!({ "folder_id": id(OTHER) });
    let r#move = |app: &App| _ = app.put(ADA, &format!("/files/{}/folder", id(FILE)), to).is(204);
    warm.removes(r#move, &[listing(FOLDER), listing(OTHER), meta()]);
    assert_eq!(warm.app.names(ADA, id(OTHER)), ["file.pdf"]);
}

#[test]
fn a_deletion_changes_what_was_in_it() {
    let warm = Warm::up();
    let file = |app: &App| _ = app.delete(ADA, &format!("/files/{}", id(FILE))).is(204);
    warm.removes(file, &[listing(FOLDER), meta()]);
    warm.app.upload(ADA, id(FILE), id(FOLDER), "file.pdf", 100).is(201);
    warm.cache_everything();
    let folder = |app: &App| _ = app.delete(ADA, &format!("/folders/{}", id(FOLDER))).is(204);
    let listings = [ADA.as_u128(), FOLDER, INNER].map(listing);
    let permissions = [id(FOLDER), id(INNER)].map(permission);
    warm.removes(folder, &[&listings[..], &permissions, &[meta()]].concat());
    assert_eq!(warm.app.names(ADA, ADA), ["other"]);
}

#[test]
fn a_share_changes_the_permissions_of_its_folders_and_a_role_those_of_its_user() {
    let warm = Warm::up();
    let grant = |app: &App| _ = app.put(ADA, &share(), json!({ "permission": "editor" })).is(204);
    warm.removes(grant, &[permission(id(FOLDER)), permission(id(INNER))]);
    warm.cache_everything();
    let revoke = |app: &App| _ = app.delete(ADA, &share()).is(204);
    warm.removes(revoke, &[permission(id(FOLDER)), permission(id(INNER))]);
    warm.app.put(ADA, &share(), json!({ "permission": "editor" })).is(204);
    warm.cache_everything();
    let role = json!({ "role": "guest" });
    let role = |app: &App| _ = app.put(ADA, &format!("/users/{BOB}/role"), role).is(204);
    warm.removes(role, &[permission(id(FOLDER)), permission(id(INNER)), permission(BOB)]);
}
