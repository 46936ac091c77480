//! Rankings: ties, neighbours, and several boards as one.
#![allow(
    clippy::float_cmp,
    reason = "scores here are small whole numbers, which come back exactly"
)]

use super::everything::keys;
use super::on_all;
use keyward::{Error, Store};
use keyward_testkit::Server;

fn names(members: &[(String, i64)]) -> Vec<&str> {
    members.iter().map(|(name, _)| name.as_str()).collect()
}

/// As if the score had been reached so many seconds ago.
fn age(server: &Server, key: &str, member: &str, seconds: f64, first: bool) {
    let ticks = if first { seconds } else { -seconds } / 1_073_741_824.0;
    server.command(&["ZINCRBY", key, &format!("{ticks:.17}"), member]);
}

#[tokio::test]
async fn of_equal_scores_the_one_reached_first_ranks_higher() {
    on_all(async |server: &Server, store: Store| {
        let racers = store.at(keys::Racers { id: 1 });
        let [ada, bob, eve] = ["ada", "bob", "eve"].map(str::to_owned);
        racers.add([(&ada, 40), (&bob, 40), (&eve, 30)]).await.unwrap();
        // Bob was there before.
        age(server, "ev:racers:1", "bob", 5.0, true);
        assert_eq!(names(&racers.top(3).await.unwrap()), ["bob", "ada", "eve"]);
        let added_up = store.top_of_all([keys::Racers { id: 1 }], 2).await.unwrap();
        assert_eq!(names(&added_up), ["bob", "ada"], "one board is what it is alone");
        // Who comes to the same score later stands below.
        assert_eq!(racers.increment(&eve, 10.0).await.unwrap(), 40.0);
        age(server, "ev:racers:1", "eve", -5.0, true);
        let all = racers.top(3).await.unwrap();
        assert_eq!(all, [(bob.clone(), 40), (ada.clone(), 40), (eve.clone(), 40)], "exactly");
        assert_eq!(racers.rank_from_top(&eve).await.unwrap(), Some(2));
        assert_eq!(racers.score(&eve).await.unwrap(), Some(40));
        // Setting the score that it has does not lose its place.
        let before = server.command(&["ZSCORE", "ev:racers:1", "bob"]);
        racers.add([(&bob, 40)]).await.unwrap();
        assert_eq!(server.command(&["ZSCORE", "ev:racers:1", "bob"]), before);
        // By whole scores, whatever their fractions.
        assert_eq!(racers.by_score(40..=40).await.unwrap().len(), 3);
        assert_eq!(racers.by_score(..40).await.unwrap().len(), 0);
        assert_eq!(racers.by_score(41..).await.unwrap().len(), 0);
        assert_eq!(racers.increment(&ada, -90.0).await.unwrap(), -50.0);
        assert_eq!(racers.score(&ada).await.unwrap(), Some(-50));
        assert_eq!(racers.by_score(..0).await.unwrap(), [(ada, -50)]);
    })
    .await;
}

#[tokio::test]
async fn of_equal_scores_the_one_reached_last_ranks_higher() {
    on_all(async |server: &Server, store: Store| {
        let chasers = store.at(keys::Chasers { id: 1 });
        let [ada, bob] = ["ada", "bob"].map(str::to_owned);
        chasers.set(&vec![(ada.clone(), 7), (bob.clone(), 7)]).await.unwrap();
        age(server, "ev:chasers:1", "bob", 5.0, false);
        assert_eq!(chasers.top(2).await.unwrap(), [(ada, 7), (bob, 7)]);
    })
    .await;
}

#[tokio::test]
async fn a_score_that_leaves_no_room_for_its_fraction_is_refused() {
    on_all(async |server: &Server, store: Store| {
        let racers = store.at(keys::Racers { id: 1 });
        let ada = "ada".to_owned();
        racers.add([(&ada, 8_388_607)]).await.unwrap();
        assert_eq!(racers.score(&ada).await.unwrap(), Some(8_388_607));
        let before = server.command(&["ZSCORE", "ev:racers:1", "ada"]);
        for error in [
            racers.add([(&ada, 8_388_608)]).await.unwrap_err(),
            racers.increment(&ada, 1.0).await.unwrap_err(),
            racers.increment(&ada, 0.5).await.unwrap_err(),
        ] {
            assert!(matches!(error, Error::Malformed { definition: "racers", .. }), "{error:?}");
        }
        assert_eq!(server.command(&["ZSCORE", "ev:racers:1", "ada"]), before);
    })
    .await;
}

#[tokio::test]
async fn a_bounded_board_keeps_the_highest_and_says_who_stands_around() {
    on_all(async |_server: &Server, store: Store| {
        let racers = store.at(keys::Racers { id: 1 });
        let everybody: Vec<String> = (0..9).map(|number| format!("m{number}")).collect();
        for (score, member) in everybody.iter().enumerate() {
            racers.increment(member, f64::from(u32::try_from(score).unwrap())).await.unwrap();
        }
        assert_eq!(names(&racers.top(9).await.unwrap()), ["m8", "m7", "m6", "m5", "m4"]);
        let seen = racers.around(&everybody[7], 1).await.unwrap().unwrap();
        assert_eq!((seen.rank, seen.first), (1, 0));
        assert_eq!(names(&seen.around), ["m8", "m7", "m6"]);
        let top = racers.around(&everybody[8], 1).await.unwrap().unwrap();
        assert_eq!((top.rank, top.first, names(&top.around)), (0, 0, vec!["m8", "m7"]));
        assert_eq!(racers.around(&everybody[0], 1).await.unwrap(), None);
        // A board without decided ties has neighbours too.
        let board = store.at(keys::Board { id: 1 });
        board.add([(&everybody[0], 3)]).await.unwrap();
        let alone = board.around(&everybody[0], 2).await.unwrap().unwrap();
        assert_eq!((alone.rank, alone.around), (0, vec![("m0".to_owned(), 3)]));
    })
    .await;
}

#[tokio::test]
async fn several_boards_are_added_up() {
    on_all(async |_server: &Server, store: Store| {
        let [ada, bob, eve] = ["ada", "bob", "eve"].map(str::to_owned);
        let days = [[(&ada, 3), (&bob, 5)], [(&ada, 4), (&eve, 6)]];
        for (id, day) in (1..).zip(days) {
            store.at(keys::Racers { id }).add(day).await.unwrap();
        }
        let week = (1..=7).map(|id| keys::Racers { id });
        let top = store.top_of_all(week, 2).await.unwrap();
        assert_eq!(top, [(ada, 7), (eve, 6)]);
        assert!(store.top_of_all([keys::Racers { id: 9 }], 2).await.unwrap().is_empty());
    })
    .await;
}
