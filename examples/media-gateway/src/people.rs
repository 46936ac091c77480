//! The truth about users: Ada and Bob, made up and in memory.

#![allow(clippy::unused_async, reason = "a database would be awaited")]

use crate::catalogue::Read;
use crate::media_gateway::fields::{UserPreferences, UserProfile, WatchProgress};
use crate::media_gateway::values::ContentId;
use keyward::{Unix, Uuid};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is known about one user.
#[derive(Debug, Clone)]
pub struct Person {
    pub profile: UserProfile,
    pub preferences: UserPreferences,
    /// With the time at which each was added
    pub watchlist: Vec<(ContentId, Unix)>,
    pub progress: HashMap<ContentId, WatchProgress>,
}

/// All users.
#[derive(Debug)]
pub struct People(Mutex<HashMap<Uuid, Person>>);

impl People {
    pub async fn find(&self, user_id: Uuid) -> Read<Option<Person>> {
        Ok(self.people().get(&user_id).cloned())
    }

    /// Changes a user, if there is one.
    pub async fn change(&self, user_id: Uuid, change: impl FnOnce(&mut Person)) -> Read<bool> {
        let mut people = self.people();
        let Some(person) = people.get_mut(&user_id) else { return Ok(false) };
        change(person);
        Ok(true)
    }

    fn people(&self) -> MutexGuard<'_, HashMap<Uuid, Person>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for People {
    fn default() -> Self {
        let ada = Uuid::from_u128(0x7c9e_6679_7425_40de_944b_e07f_c1f9_0ae7);
        let bob = Uuid::from_u128(0x1b4e_28ba_2fa1_41d2_883f_0016_d3cc_a427);
        let all = [(ada, "Ada", "drama", true), (bob, "Bob", "comedy", false)];
        People(Mutex::new(all.into_iter().map(person).collect()))
    }
}

fn person((id, name, genre, is_premium): (Uuid, &str, &str, bool)) -> (Uuid, Person) {
    let profile = UserProfile {
        email: format!("{}@people.example", name.to_lowercase()),
        display_name: name.to_owned(),
        avatar_url: None,
        is_premium,
        subscription_tier: if is_premium { "premium" } else { "free" }.to_owned(),
    };
    let preferences = UserPreferences {
        favorite_genres: vec![genre.to_owned()],
        preferred_languages: vec!["en".to_owned()],
        subscribed_platforms: vec!["lumen".to_owned()],
        max_content_rating: None,
    };
    (id, Person { profile, preferences, watchlist: Vec::new(), progress: HashMap::new() })
}
