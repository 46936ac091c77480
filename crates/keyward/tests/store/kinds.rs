//! What can be done to a key, by its kind.

use super::everything::{fields, keys, stored, values};
use super::model::Page;
use super::{id, on_all};
use fields::{Person, Visits};
use futures_util::TryStreamExt as _;
use futures_util::future::join_all;
use keyward::{EntryId, Error, Store, Timestamp, Unix};
use keyward_testkit::Server;
use std::convert::Infallible;
use std::time::Duration;

fn page(title: &str) -> Page {
    Page { title: title.to_owned(), lines: vec!["é\n\0".to_owned(); 3] }
}

fn ada() -> Person {
    Person {
        name: "Ada".to_owned(),
        age: 36,
        score: None,
        tags: Some(vec!["maths".to_owned()]),
        mood: Some(fields::person::Mood::Good),
    }
}

#[tokio::test]
async fn values_of_every_type_come_back_as_they_were() {
    on_all(async |_server: &Server, store: Store| {
        macro_rules! round_trip {
            ($key:ident, $($value:expr),+) => {$(
                let handle = store.at(keys::$key { id: 1 });
                handle.set(&$value).await.unwrap();
                assert_eq!(handle.get().await.unwrap(), Some($value));
            )+};
        }
        round_trip!(Text, String::new(), "a:b{c}\n\0é".to_owned());
        round_trip!(Number, i64::MIN, -1, 0, i64::MAX);
        round_trip!(Real, 0.1, -1e300, f64::INFINITY);
        round_trip!(Truth, true, false);
        round_trip!(Unique, id(u128::MAX));
        round_trip!(Moment, "2026-11-15T12:30:00.5+02:00".parse::<Timestamp>().unwrap());
        round_trip!(Second, Unix::new(1_700_000_000).unwrap());
        round_trip!(Raw, vec![0, 255, 10]);
        round_trip!(Colour, stored::Colour::Green);
        round_trip!(Page, page("a"));
        round_trip!(Packed, page("b"));
    })
    .await;
}

#[tokio::test]
async fn every_write_sets_the_declared_ttl() {
    on_all(async |server: &Server, store: Store| {
        let seconds = |key: &str| server.command(&["TTL", key]).integer();
        store.at(keys::Text { id: 1 }).set(&"a".to_owned()).await.unwrap();
        assert!((3595..=3600).contains(&seconds("ev:text:1")));
        store.at(keys::Number { id: 1 }).set(&1).await.unwrap();
        assert!((3595..=7200).contains(&seconds("ev:number:1")));
        store.at(keys::Colour { id: 1 }).set(&stored::Colour::Red).await.unwrap();
        assert_eq!(seconds("ev:colour:1"), -1, "never expires");
        for (size, most) in [(values::Size::V1m, 60), (values::Size::V1h, 3600)] {
            store.at(keys::Window { size, id: 1 }).set(&1).await.unwrap();
            let left = seconds(&keys::Window { size, id: 1 }.key());
            assert!((most - 5..=most).contains(&left), "{left}");
        }
        // Jitter shortens, and not always by the same.
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..20 {
            store.at(keys::Real { id: 1 }).set(&1.0).await.unwrap();
            let left = seconds("ev:real:1");
            assert!((1795..=3600).contains(&left), "{left}");
            seen.insert(left);
        }
        assert!(seen.len() > 3, "{seen:?}");
        // Collections too, in the same step.
        store.at(keys::Recent { id: 1 }).push_back(&["a".to_owned()]).await.unwrap();
        store.at(keys::Tags { id: 1 }).add(&["a".to_owned()]).await.unwrap();
        store.at(keys::Board { id: 1 }).add([(&"a".to_owned(), 1)]).await.unwrap();
        store.at(keys::Person { id: 1 }).set(&ada()).await.unwrap();
        store.at(keys::Visits { id: 1 }).increment(Visits::TODAY, 1).await.unwrap();
        for key in ["recent", "tags", "board", "person", "visits"] {
            let left = seconds(&format!("ev:{key}:1"));
            assert!((3595..=3600).contains(&left), "{key} {left}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_caller_says_how_long_a_token_lives_within_the_bound() {
    on_all(async |_server: &Server, store: Store| {
        let token = store.at(keys::Token { id: 1 }).living(Duration::from_secs(90)).unwrap();
        token.set(&stored::Token::Revoked).await.unwrap();
        let left = token.remaining().await.unwrap().unwrap();
        assert!(left > Duration::from_secs(85) && left <= Duration::from_secs(90));
        let error =
            store.at(keys::Token { id: 1 }).living(Duration::from_secs(90_000)).unwrap_err();
        assert_eq!(error.to_string(), "`token` lives at most 86400s, and 90000s was asked for");
        assert!(store.at(keys::Token { id: 1 }).living(Duration::ZERO).is_err());
    })
    .await;
}

#[tokio::test]
async fn a_read_starts_a_sliding_ttl_anew_and_a_write_may_keep_one() {
    on_all(async |server: &Server, store: Store| {
        let sliding = store.at(keys::Sliding { id: 1 });
        sliding.set(&"a".to_owned()).await.unwrap();
        server.command(&["EXPIRE", "ev:sliding:1", "10"]);
        assert_eq!(sliding.get().await.unwrap().as_deref(), Some("a"));
        assert!(sliding.remaining().await.unwrap().unwrap() > Duration::from_secs(3000));

        let kept = store.at(keys::Kept { id: 1 });
        kept.set(&"a".to_owned()).await.unwrap();
        server.command(&["EXPIRE", "ev:kept:1", "10"]);
        kept.set(&"b".to_owned()).await.unwrap();
        assert_eq!(kept.get().await.unwrap().as_deref(), Some("b"));
        assert!(kept.remaining().await.unwrap().unwrap() <= Duration::from_secs(10));
    })
    .await;
}

#[tokio::test]
async fn whatever_the_kind_one_of_many_takes_it() {
    on_all(async |server: &Server, store: Store| {
        let (hash, list) = (store.at(keys::Person { id: 9 }), store.at(keys::Steps { id: 9 }));
        let (set, scores) = (store.at(keys::Names { id: 9 }), store.at(keys::Scores { id: 9 }));
        let words = vec!["a".to_owned(), "b".to_owned()];
        hash.set(&ada()).await.unwrap();
        list.set(&words).await.unwrap();
        set.set(&vec!["a".to_owned()]).await.unwrap();
        scores.set(&vec![("a".to_owned(), 7)]).await.unwrap();

        let taken = join_all((0..20).map(|_| hash.take().into_future())).await;
        let taken: Vec<_> = taken.into_iter().filter_map(Result::unwrap).collect();
        assert_eq!(taken, [ada()]);
        assert_eq!(list.take().await.unwrap(), Some(words));
        assert_eq!(set.take().await.unwrap(), Some(vec!["a".to_owned()]));
        assert_eq!(scores.take().await.unwrap(), Some(vec![("a".to_owned(), 7)]));
        assert_eq!(hash.take().await.unwrap(), None);
        assert_eq!(list.take().await.unwrap(), None);
        assert_eq!(set.take().await.unwrap(), None);
        assert_eq!(scores.take().await.unwrap(), None);
        assert_eq!(server.command(&["DBSIZE"]).integer(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_string_is_set_once_and_taken_once() {
    on_all(async |_server: &Server, store: Store| {
        let text = store.at(keys::Text { id: 1 });
        assert!(text.set_if_absent(&"a".to_owned()).await.unwrap());
        assert!(!text.set_if_absent(&"b".to_owned()).await.unwrap());
        assert!(text.remaining().await.unwrap().unwrap() > Duration::from_secs(3000));
        assert_eq!(text.take().await.unwrap().as_deref(), Some("a"));
        assert_eq!(text.take().await.unwrap(), None);
        assert!(!text.exists().await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_hash_is_a_struct_and_its_fields_have_types() {
    on_all(async |server: &Server, store: Store| {
        let person = store.at(keys::Person { id: 1 });
        assert_eq!(person.get().await.unwrap(), None);
        assert!(!person.set_field(Person::AGE, &7).await.unwrap(), "half a person cannot be read");
        assert!(!person.exists().await.unwrap());

        person.set(&ada()).await.unwrap();
        assert_eq!(person.get().await.unwrap(), Some(ada()));
        assert_eq!(person.get_field(Person::AGE).await.unwrap(), Some(36));
        assert_eq!(person.get_field(Person::SCORE).await.unwrap(), None);
        assert_eq!(person.get_field(Person::TAGS).await.unwrap(), Some(vec!["maths".to_owned()]));
        assert_eq!(person.increment(Person::AGE, 1).await.unwrap(), Some(37));
        assert_eq!(person.increment(Person::SCORE, 1.5).await.unwrap(), Some(1.5));
        let changes = [Person::NAME.to(&"Grace".to_owned()), Person::MOOD.removed()];
        assert!(person.update(changes).await.unwrap());
        let grace = Person { name: "Grace".into(), age: 37, score: Some(1.5), mood: None, ..ada() };
        assert_eq!(person.get().await.unwrap(), Some(grace));
        let error = person.update([Person::NAME.removed()]).await.unwrap_err();
        assert_eq!(error.to_string(), "the field `name` of `person` is not what was declared: it is missing");

        // A whole write leaves nothing behind of what was there.
        let bare = Person { name: "Bob".into(), age: 1, score: None, tags: None, mood: None };
        person.set(&bare).await.unwrap();
        assert_eq!(person.len().await.unwrap(), 2);

        server.command(&["HSET", "ev:person:1", "age", "old"]);
        let error = person.get().await.unwrap_err();
        assert_eq!(error.to_string(), "the field `age` of `person` is not what was declared: its bytes are not a value of its type");
        server.command(&["HDEL", "ev:person:1", "age"]);
        let error = person.get().await.unwrap_err();
        assert_eq!(error.to_string(), "the field `age` of `person` is not what was declared: it is missing");

        let visits = store.at(keys::Visits { id: 1 });
        assert_eq!(visits.increment(Visits::TODAY, 2).await.unwrap(), Some(2));
        assert_eq!(visits.increment(Visits::TODAY, 3).await.unwrap(), Some(5));
    })
    .await;
}

#[tokio::test]
async fn a_field_has_its_own_ttl_where_the_server_can() {
    on_all(async |server: &Server, store: Store| {
        let handle = store.at(keys::Shortlived { id: 1 });
        let value = fields::Shortlived { code: Some("42".into()), name: "Ada".into() };
        handle.set(&value).await.unwrap();
        assert_eq!(
            handle.get_field(fields::Shortlived::CODE).await.unwrap().as_deref(),
            Some("42")
        );
        if server.flavor() == keyward_testkit::Flavor::Valkey {
            let ttls = server.command(&["HTTL", "ev:shortlived:1", "FIELDS", "2", "code", "name"]);
            let ttls: Vec<i64> =
                ttls.array().into_iter().map(keyward_testkit::Reply::integer).collect();
            assert!((55..=60).contains(&ttls[0]), "{ttls:?}");
            assert_eq!(ttls[1], -1);
        }
        // As its end does: the rest of the hash is good.
        server.command(&["HDEL", "ev:shortlived:1", "code"]);
        assert_eq!(handle.get().await.unwrap(), Some(fields::Shortlived { code: None, ..value }));
    })
    .await;
}

#[tokio::test]
async fn a_list_keeps_to_its_bound() {
    on_all(async |_server: &Server, store: Store| {
        let recent = store.at(keys::Recent { id: 1 });
        let text = |text: &str| text.to_owned();
        assert_eq!(recent.push_back(&[text("a"), text("b")]).await.unwrap(), 2);
        assert_eq!(recent.push_back(&[text("c"), text("d")]).await.unwrap(), 3);
        assert_eq!(recent.get().await.unwrap().unwrap(), ["b", "c", "d"]);
        assert_eq!(recent.push_front(&[text("z")]).await.unwrap(), 3);
        assert_eq!(recent.range(0, -1).await.unwrap(), ["z", "b", "c"]);
        assert_eq!(recent.range(-1, -1).await.unwrap(), ["c"]);
        assert_eq!(recent.pop_front().await.unwrap().as_deref(), Some("z"));
        assert_eq!(recent.pop_back().await.unwrap().as_deref(), Some("c"));
        assert_eq!(recent.len().await.unwrap(), 1);

        let jobs = store.at(keys::Jobs { id: 1 });
        jobs.push_back(&[page("a"), page("b")]).await.unwrap();
        let error = jobs.push_back(&[page("c")]).await.unwrap_err();
        assert_eq!(error.to_string(), "`jobs` holds at most 2 elements, and is full");
        assert_eq!(jobs.pop_front().await.unwrap(), Some(page("a")));
        assert_eq!(jobs.push_back(&[page("c")]).await.unwrap(), 2);
        // A list of many items is written in pieces.
        let many: Vec<String> = (0..5000).map(|number| number.to_string()).collect();
        recent.set(&many).await.unwrap();
        assert_eq!(recent.get().await.unwrap().unwrap(), ["0", "1", "2"], "the best come first");
        recent.set(&Vec::new()).await.unwrap();
        assert_eq!(recent.get().await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn what_is_trimmed_is_declared() {
    on_all(async |_server: &Server, store: Store| {
        let texts = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let five = texts(&["a", "b", "c", "d", "e"]);
        let latest = store.at(keys::Latest { id: 1 });
        latest.set(&five).await.unwrap();
        assert_eq!(latest.get().await.unwrap().unwrap(), ["c", "d", "e"]);
        latest.push_back(&texts(&["f"])).await.unwrap();
        assert_eq!(latest.get().await.unwrap().unwrap(), ["d", "e", "f"]);
        let lost = latest.push_front(&texts(&["z"])).await;
        assert!(matches!(lost, Err(Error::Full { .. })), "it would be trimmed at once: {lost:?}");

        let ranked = store.at(keys::Ranked { id: 1 });
        ranked.set(&five).await.unwrap();
        assert_eq!(ranked.get().await.unwrap().unwrap(), ["a", "b", "c"]);
        ranked.push_front(&texts(&["z"])).await.unwrap();
        assert_eq!(ranked.get().await.unwrap().unwrap(), ["z", "a", "b"]);
        let lost = ranked.push_back(&texts(&["y"])).await;
        assert!(matches!(lost, Err(Error::Full { .. })), "it would be trimmed at once: {lost:?}");
        ranked.pop_back().await.unwrap();
        assert_eq!(ranked.push_back(&texts(&["y"])).await.unwrap(), 3);

        let soonest = store.at(keys::Soonest { id: 1 });
        let scored: Vec<(String, i64)> = five.iter().cloned().zip(1..).collect();
        soonest.set(&scored).await.unwrap();
        assert_eq!(soonest.get().await.unwrap().unwrap(), scored[..3]);
        soonest.add([(&"now".to_owned(), 0)]).await.unwrap();
        assert_eq!(soonest.range(0, -1).await.unwrap()[0], ("now".to_owned(), 0));
        assert_eq!(soonest.len().await.unwrap(), 3);
    })
    .await;
}

#[tokio::test]
async fn a_field_says_whether_writing_it_prolongs_the_key() {
    on_all(async |server: &Server, store: Store| {
        let login = store.at(keys::Login { id: 1 });
        let whole = fields::Login { user: "a".to_owned(), last_active: None, clicks: None };
        login.set(&whole).await.unwrap();
        let left = || server.command(&["TTL", "ev:login:1"]).integer();
        let shorten = || server.command(&["EXPIRE", "ev:login:1", "60"]);
        shorten();
        assert!(login.set_field(fields::Login::LAST_ACTIVE, &7).await.unwrap());
        assert!(left() <= 60, "activity does not prolong it");
        login.increment(fields::Login::CLICKS, 1).await.unwrap();
        login
            .update([fields::Login::CLICKS.to(&5), fields::Login::LAST_ACTIVE.removed()])
            .await
            .unwrap();
        assert!(left() <= 60, "activity does not prolong it");
        login
            .update([fields::Login::CLICKS.to(&5), fields::Login::USER.to(&"b".to_owned())])
            .await
            .unwrap();
        assert!(left() > 60, "a field that says nothing starts it again");
        shorten();
        login.set(&whole).await.unwrap();
        assert!(left() > 60, "so does a whole write");
    })
    .await;
}

#[tokio::test]
async fn a_set_keeps_to_its_bound() {
    on_all(async |_server: &Server, store: Store| {
        let tags = store.at(keys::Tags { id: 1 });
        let text = |text: &str| text.to_owned();
        assert_eq!(tags.add(&[text("a"), text("b"), text("a")]).await.unwrap(), 2);
        assert!(tags.contains(&text("a")).await.unwrap());
        assert!(!tags.contains(&text("z")).await.unwrap());
        let full = tags.add(&[text("c"), text("d")]).await;
        assert!(matches!(full, Err(Error::Full { max_len: 3, .. })), "{full:?}");
        assert_eq!(tags.len().await.unwrap(), 2, "nothing that was there is lost");
        assert_eq!(tags.remove(&[text("a"), text("q")]).await.unwrap(), 1);

        let invited = store.at(keys::Invited { id: 1 });
        invited.add(&[1, 2, 3]).await.unwrap();
        assert_eq!(invited.add(&[3]).await.unwrap(), 0, "it is there already");
        assert!(matches!(invited.add(&[4]).await, Err(Error::Full { max_len: 3, .. })));
        let mut members = invited.get().await.unwrap().unwrap();
        members.sort_unstable();
        assert_eq!(members, [1, 2, 3]);
    })
    .await;
}

#[tokio::test]
async fn a_bound_holds_however_much_is_written_at_once() {
    on_all(async |server: &Server, store: Store| {
        let invited = store.at(keys::Invited { id: 1 });
        invited.set(&vec![1, 2, 3]).await.unwrap();
        let full = invited.set(&vec![1, 2, 3, 4, 5, 6]).await;
        assert!(matches!(full, Err(Error::Full { max_len: 3, .. })), "{full:?}");
        assert_eq!(invited.len().await.unwrap(), 3, "nothing was written");
        invited.set(&vec![4, 5, 6, 4]).await.unwrap();
        invited.add(&[4, 4, 5]).await.unwrap();
        let podium = store.at(keys::Podium { id: 1 });
        let scored = |members: &[&str]| members.iter().map(|it| ((*it).to_owned(), 1)).collect();
        podium.set(&scored(&["a", "b", "c"])).await.unwrap();
        let full = podium.set(&scored(&["a", "b", "c", "d"])).await;
        assert!(matches!(full, Err(Error::Full { max_len: 3, .. })), "{full:?}");
        podium.set(&scored(&["d", "e", "f", "d"])).await.unwrap();

        let tags = store.at(keys::Tags { id: 1 });
        let texts =
            |texts: &[&str]| -> Vec<String> { texts.iter().map(|it| (*it).to_owned()).collect() };
        tags.set(&texts(&["a", "a", "a", "b", "c"])).await.unwrap();
        assert_eq!(tags.len().await.unwrap(), 3, "what comes twice takes one place");
        let full = tags.set(&texts(&["a", "b", "c", "d"])).await;
        assert!(matches!(full, Err(Error::Full { max_len: 3, .. })), "{full:?}");
        assert_eq!(tags.len().await.unwrap(), 3, "nothing was written");

        // A fill replaces what is no set.
        for name in ["ev:tags:2", "ev:invited:2"] {
            server.command(&["SET", name, "a string"]);
        }
        let load = || async { Ok::<_, Infallible>(texts(&["a"])) };
        store.at(keys::Tags { id: 2 }).get_or_load(load).await.unwrap();
        let load = || async { Ok::<_, Infallible>(vec![1]) };
        store.at(keys::Invited { id: 2 }).get_or_load(load).await.unwrap();
        for name in ["ev:tags:2", "ev:invited:2"] {
            assert_eq!(server.command(&["TYPE", name]).text(), "set", "{name}");
        }
    })
    .await;
}

#[tokio::test]
async fn thousands_of_members_are_added_and_removed_at_once() {
    on_all(async |_server: &Server, store: Store| {
        let names: Vec<String> = (0..9000).map(|number| number.to_string()).collect();
        let board = store.at(keys::Board { id: 1 });
        assert_eq!(board.add(names.iter().zip(0..)).await.unwrap(), 9000);
        assert_eq!(board.len().await.unwrap(), 3);
        assert_eq!(board.remove(&names).await.unwrap(), 3);
        assert_eq!(board.add([]).await.unwrap(), 0);
        assert_eq!(board.remove(&[]).await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_sorted_set_has_ranks_and_scores() {
    on_all(async |_server: &Server, store: Store| {
        let board = store.at(keys::Board { id: 1 });
        let [ada, bob, eve, kim] = ["ada", "bob", "eve", "kim"].map(str::to_owned);
        assert_eq!(board.add([(&ada, 3), (&bob, 1), (&eve, 2)]).await.unwrap(), 3);
        assert_eq!(board.rank(&bob).await.unwrap(), Some(0));
        assert_eq!(board.rank_from_top(&ada).await.unwrap(), Some(0));
        assert_eq!(board.rank(&kim).await.unwrap(), None);
        assert_eq!(board.score(&eve).await.unwrap(), Some(2));
        assert_eq!(board.top(2).await.unwrap(), [(ada.clone(), 3), (eve.clone(), 2)]);
        assert_eq!(board.by_score(2..).await.unwrap(), [(eve.clone(), 2), (ada.clone(), 3)]);
        assert_eq!(board.by_score(..2).await.unwrap(), [(bob.clone(), 1)]);
        assert!((board.increment(&bob, 5.0).await.unwrap() - 6.0).abs() < 1e-9);
        // The bound: the lowest goes.
        board.add([(&kim, 9)]).await.unwrap();
        let names: Vec<String> =
            board.range(0, -1).await.unwrap().into_iter().map(|it| it.0).collect();
        assert_eq!(names, ["ada", "bob", "kim"]);
        assert_eq!(board.remove(&[ada, eve]).await.unwrap(), 1);
        assert_eq!(board.len().await.unwrap(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_stream_is_appended_to_and_read_on() {
    on_all(async |_server: &Server, store: Store| {
        let log = store.at(keys::Log { id: 1 });
        let entry = |what: &str, size| fields::Log { what: what.to_owned(), size };
        let mut ids = Vec::new();
        for size in 0..5 {
            ids.push(log.append(&entry("put", size)).await.unwrap());
        }
        assert!(ids.is_sorted());
        assert_eq!(log.len().await.unwrap(), 3, "the oldest are gone");
        let all = log.range(EntryId::MIN, EntryId::MAX, 10).await.unwrap();
        assert_eq!(all.iter().map(|(_, entry)| entry.size).collect::<Vec<_>>(), [2, 3, 4]);
        let rest = log.read_after(ids[3], 10).await.unwrap();
        assert_eq!(rest, [(ids[4], entry("put", 4))]);
        assert!(log.remaining().await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn what_is_not_as_declared_is_an_error_that_says_so() {
    on_all(async |server: &Server, store: Store| {
        server.command(&["LPUSH", "ev:text:1", "a"]);
        let error = store.at(keys::Text { id: 1 }).get().await.unwrap_err();
        assert_eq!(error.to_string(), "the key of `text` holds another type than was declared");
        server.command(&["SET", "ev:page:1", "{\"title\":1}"]);
        let error = store.at(keys::Page { id: 1 }).get().await.unwrap_err();
        assert_eq!(error.to_string(), "the value of `page` is not what was declared: the JSON is not of its type, at line 1, column 10");
        let mut squeezed = zstd::bulk::compress(b"{\"title\":\"a\",\"lines\":[]}", 0).unwrap();
        squeezed.truncate(squeezed.len() - 3);
        let mut connection = server.connect();
        connection.command(&[b"SET".as_slice(), b"ev:packed:1", &squeezed]).unwrap();
        let error = store.at(keys::Packed { id: 1 }).get().await.unwrap_err();
        assert!(error.to_string().starts_with("the value of `packed` is not what was declared: it is not zstd"), "{error}");
        let bomb = zstd::bulk::compress(&vec![b' '; 80 << 20], 0).unwrap();
        connection.command(&[b"SET".as_slice(), b"ev:packed:1", &bomb]).unwrap();
        let error = store.at(keys::Packed { id: 1 }).get().await.unwrap_err();
        assert_eq!(error.to_string(), "the value of `packed` is not what was declared: it grows to more than 64 MiB");
        let error = store.at(keys::Raw { id: 1 }).set(&vec![0; 1025]).await.unwrap_err();
        assert_eq!(error.to_string(), "the value of `raw` is not what was declared: it has 1025 bytes, and 1024 are the most");
        server.command(&["SET", "ev:number:1", "0x10"]);
        assert!(matches!(store.at(keys::Number { id: 1 }).get().await, Err(Error::Malformed { .. })));
    })
    .await;
}

#[tokio::test]
async fn a_pipeline_has_typed_answers_and_an_error_stays_where_it_is() {
    on_all(async |server: &Server, store: Store| {
        server.command(&["SET", "ev:number:2", "no number"]);
        let mut batch = store.pipeline();
        let set = batch.add(store.at(keys::Text { id: 1 }).set(&"a".to_owned()));
        let text = batch.add(store.at(keys::Text { id: 1 }).get());
        let wrong = batch.add(store.at(keys::Number { id: 2 }).get());
        let person = batch.add(store.at(keys::Person { id: 1 }).set(&ada()));
        let age = batch.add(store.at(keys::Person { id: 1 }).get_field(Person::AGE));
        let pushed = batch.add(store.at(keys::Recent { id: 1 }).push_back(&["x".to_owned()]));
        let counted = batch.add(store.at(keys::Hits { id: 1 }).add(3));
        assert_eq!(batch.len(), 7);
        let mut results = batch.run().await.unwrap();
        results.take(set).unwrap();
        assert_eq!(results.take(text).unwrap().as_deref(), Some("a"));
        let wrong = results.take(wrong);
        assert!(matches!(wrong, Err(Error::Malformed { definition: "number", .. })));
        results.take(person).unwrap();
        assert_eq!(results.take(age).unwrap(), Some(36));
        assert_eq!(results.take(pushed).unwrap(), 1);
        assert_eq!(results.take(counted).unwrap().value, 3);
        // Scripts that the server has forgotten are sent again.
        server.command(&["SCRIPT", "FLUSH"]);
        let mut batch = store.pipeline();
        let first = batch.add(store.at(keys::Hits { id: 1 }).add(1));
        let second = batch.add(store.at(keys::Hits { id: 1 }).add(1));
        let another = store.pipeline().add(store.at(keys::Hits { id: 1 }).add(1));
        let mut results = batch.run().await.unwrap();
        let mut values = [results.take(first).unwrap().value, results.take(second).unwrap().value];
        values.sort_unstable();
        assert_eq!(values, [4, 5]);
        assert!(results.take(another).is_err(), "it was never sent");
    })
    .await;
}

#[tokio::test]
async fn many_keys_are_read_at_once_and_found_by_a_scan() {
    on_all(async |server: &Server, store: Store| {
        for number in 0..300 {
            store.at(keys::Text { id: number }).set(&format!("text {number}")).await.unwrap();
            store.at(keys::Person { id: number }).set(&ada()).await.unwrap();
        }
        server.command(&["SET", "ev:text:x", "no key of ours"]);
        let texts = store.get_many((298..302).map(|id| keys::Text { id })).await.unwrap();
        let expected = [Some("text 298".to_owned()), Some("text 299".to_owned()), None, None];
        assert_eq!(texts, expected);
        let mut found: Vec<u64> =
            store.scan::<keys::Text>().map_ok(|key| key.id).try_collect().await.unwrap();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, (0..300).collect::<Vec<_>>());
    })
    .await;
}
