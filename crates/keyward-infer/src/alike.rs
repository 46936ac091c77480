//! Which tokens of one place are the values of a parameter: those that are followed by the same.
//!
//! What follows a token is a set of elements: the look of the rest of a key, with the words that several tokens have
//! behind them, its type, and whether it expires. Tokens with the same elements and the same fields are alike. A
//! definition for each of them costs as much as it has elements; one parameter for all costs the elements once, and the
//! chance to say what each of the words means. So few tokens need much in common to be values, and where they have
//! little in common, it takes many: see [`fewest`].

use crate::form::Form;
use crate::hash::{hash, join};
use crate::thresholds::{Threshold, Thresholds};
use crate::tree::{Item, Token, Tree};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A token, and the keys that have it at a place.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) token: u32,
    pub(crate) items: Vec<Item>,
}

/// What was decided at a place.
#[derive(Debug, Default)]
pub(crate) struct Decided {
    /// Each stays what it is
    pub(crate) words: Vec<Candidate>,
    /// Each is a parameter
    pub(crate) values: Vec<Vec<Item>>,
}

/// How many alike tokens are the values of a parameter.
fn fewest(thresholds: &Thresholds, open: bool, is_root: bool, rich: usize) -> usize {
    thresholds.count(match rich {
        4.. => Threshold::Alike4,
        3 => Threshold::Alike3,
        _ if open && is_root => Threshold::AlikeRoot,
        2 => Threshold::Fewest,
        _ if open => Threshold::Fewest,
        1 => Threshold::Alike1,
        _ => Threshold::Alike0,
    })
}

/// What follows a token.
struct Follow {
    candidate: Candidate,
    separator: Option<u8>,
    /// With whether a word is in it
    elements: BTreeMap<u64, bool>,
    /// Names of fields, by element
    names: BTreeMap<u64, BTreeSet<u64>>,
    weight: f64,
    texts: usize,
    /// Whether a number stands right behind its letters, or it is a code of two letters: values look like that
    is_valueish: bool,
}

pub(crate) fn decide(
    tree: &Tree<'_>,
    recurrent: Vec<(Candidate, bool)>,
    words: Vec<Candidate>,
    values: Vec<(Form, Candidate)>,
    at: usize,
    is_root: bool,
) -> Decided {
    let mut decided = Decided::default();
    let surely: Vec<bool> = recurrent.iter().map(|(_, surely)| *surely).collect();
    let count = words.len();
    let all: Vec<Candidate> =
        words.into_iter().chain(recurrent.into_iter().map(|(candidate, _)| candidate)).collect();
    let common = common_words(tree, &all, at);
    let follow = |candidate: Candidate| Follow::of(tree, candidate, at, &common);
    let mut follows: Vec<Follow> = all.into_iter().map(follow).collect();
    let recurrent: Vec<Follow> = follows.split_off(count);
    let thresholds = &tree.thresholds;
    let mut clusters = cluster(follows, thresholds);
    // A word that recurs for some is a value if it is like many that do not recur.
    for (word, surely) in recurrent.into_iter().zip(surely) {
        let home = clusters.iter_mut().find(|it| {
            it.len() >= 2 * thresholds.count(Threshold::Fewest) && it[0].is_like(&word, thresholds)
        });
        match home {
            Some(home) if !surely => home.push(word),
            _ => decided.words.push(word.candidate),
        }
    }
    let mut parameters: Vec<Vec<Follow>> = Vec::new();
    for cluster in clusters {
        if is_parameter(&cluster, is_root, thresholds) {
            parameters.push(cluster);
        } else {
            decided.words.extend(cluster.into_iter().map(|it| it.candidate));
        }
    }
    let values: Vec<(Form, Follow)> =
        values.into_iter().map(|(form, it)| (form, Follow::of(tree, it, at, &common))).collect();
    absorb(tree, values, &mut parameters, &mut decided, at);
    for parameter in parameters {
        decided.values.push(items(parameter));
    }
    decided
}

fn items(follows: Vec<Follow>) -> Vec<Item> {
    let mut items: Vec<Item> = follows.into_iter().flat_map(|it| it.candidate.items).collect();
    items.sort_by_key(|item| item.key);
    items
}

/// Words that at least two tokens, and a tenth of them, have behind them, by the distance.
fn common_words(tree: &Tree<'_>, candidates: &[Candidate], at: usize) -> BTreeSet<(usize, u32)> {
    let mut seen: HashMap<(usize, u32), usize> = HashMap::new();
    for candidate in candidates {
        let mut own = BTreeSet::new();
        for item in &candidate.items {
            let segments = &tree.keys[item.key as usize].segments;
            own.extend(segments.iter().enumerate().skip(at + 1).map(|(far, it)| (far, it.token)));
        }
        for word in own {
            *seen.entry(word).or_default() += 1;
        }
    }
    let needed = (candidates.len() / 10).max(2);
    seen.into_iter().filter(|(_, count)| *count >= needed).map(|(word, _)| word).collect()
}

impl Follow {
    fn of(
        tree: &Tree<'_>,
        candidate: Candidate,
        at: usize,
        common: &BTreeSet<(usize, u32)>,
    ) -> Self {
        let (mut elements, mut names) = (BTreeMap::new(), BTreeMap::<u64, BTreeSet<u64>>::new());
        let mut texts = BTreeSet::new();
        for item in &candidate.items {
            let key = &tree.keys[item.key as usize];
            let observed = key.sample.observed;
            texts.insert(key.segments[at].text);
            let (mut look, mut rich) = (0, false);
            for (far, segment) in key.segments.iter().enumerate().skip(at + 1) {
                let token = &tree.tokens[segment.token as usize];
                let part = match token.is_value {
                    Some(form) => 1 + u64::from(form_number(form)),
                    None if common.contains(&(far, segment.token)) => {
                        rich = true;
                        1000 + u64::from(segment.token)
                    }
                    None => 0,
                };
                look = join(look, part);
            }
            let is_json = observed.content.as_ref().is_some_and(|it| !it.json.is_empty());
            let kind = u64::from(observed.ttl.is_some()) * 2 + u64::from(is_json);
            let element = join(join(look, hash(observed.key_type.as_bytes())), kind);
            elements.insert(element, rich);
            if let Some(content) = &observed.content {
                names
                    .entry(element)
                    .or_default()
                    .extend(content.names().map(|name| hash(name.as_bytes())));
            }
        }
        let weight = tree.weight(&candidate.items);
        let separator = tree.tokens[candidate.token as usize].separator;
        let is_valueish =
            texts.iter().all(|text| text.len() <= 2) || Token::is_glued(texts.first().copied());
        let texts = texts.len();
        Follow { candidate, separator, elements, names, weight, texts, is_valueish }
    }

    /// Whether its texts are IPv4 addresses.
    fn is_address(&self, tree: &Tree<'_>) -> bool {
        tree.tokens[self.candidate.token as usize].is_value == Some(Form::Ip)
    }

    /// Whether another token is followed by the same as this one, which is followed by at least as much.
    #[allow(clippy::cast_precision_loss, reason = "a share")]
    fn is_like(&self, other: &Follow, thresholds: &Thresholds) -> bool {
        if self.separator != other.separator {
            return false;
        }
        let shared: Vec<u64> =
            other.elements.keys().copied().filter(|it| self.elements.contains_key(it)).collect();
        let contained = shared.len() as f64
            >= thresholds.of(Threshold::Contained) * other.elements.len() as f64;
        // With so many keys, what a token does not have it will not get.
        let settled =
            other.weight >= thresholds.of(Threshold::Settled) * self.elements.len() as f64;
        let covers =
            shared.len() as f64 >= thresholds.of(Threshold::Covers) * self.elements.len() as f64;
        // Hashes whose fields are data differ in them: that must not part what is alike in all else.
        let differ = |element: &&u64| match (self.names.get(element), other.names.get(element)) {
            (Some(ours), Some(theirs)) if !ours.is_empty() && !theirs.is_empty() => {
                let both = ours.intersection(theirs).count();
                let fewer = ours.len().min(theirs.len());
                (both as f64) < thresholds.of(Threshold::MostNames) * fewer as f64
                    && (both as f64)
                        < thresholds.of(Threshold::SameNames) * ours.union(theirs).count() as f64
            }
            _ => false,
        };
        let same_names = || 3 * shared.iter().filter(differ).count() <= shared.len();
        contained && (covers || !settled) && same_names()
    }
}

fn form_number(form: Form) -> u8 {
    match form {
        Form::Number => 1,
        Form::Hex(_) => 2,
        Form::Uuid => 3,
        Form::Ulid => 4,
        Form::Date => 5,
        Form::Ip => 6,
        Form::RawIp => 7,
        Form::Email => 8,
        Form::Opaque => 9,
        Form::Span => 10,
        Form::Locale => 11,
    }
}

/// Clusters of tokens that are followed by the same; the first of each is followed by most.
fn cluster(mut follows: Vec<Follow>, thresholds: &Thresholds) -> Vec<Vec<Follow>> {
    follows.sort_by(|left, right| {
        let size = |it: &Follow| std::cmp::Reverse((it.elements.len(), it.candidate.items.len()));
        size(left).cmp(&size(right)).then(left.candidate.token.cmp(&right.candidate.token))
    });
    let mut clusters: Vec<Vec<Follow>> = Vec::new();
    // What most clusters are led by is found by its elements: comparing all with all would take too long.
    let mut leaders: HashMap<u64, Vec<usize>> = HashMap::new();
    for follow in follows {
        let mut near: BTreeMap<usize, usize> = BTreeMap::new();
        for element in follow.elements.keys() {
            for leader in leaders.get(element).into_iter().flatten() {
                *near.entry(*leader).or_default() += 1;
            }
        }
        let mut near: Vec<(usize, usize)> = near.into_iter().collect();
        near.sort_by_key(|(leader, shared)| (std::cmp::Reverse(*shared), *leader));
        let home = near
            .iter()
            .take(32)
            .find(|(leader, _)| clusters[*leader][0].is_like(&follow, thresholds));
        if let Some((leader, _)) = home {
            clusters[*leader].push(follow);
        } else {
            for element in follow.elements.keys() {
                leaders.entry(*element).or_default().push(clusters.len());
            }
            clusters.push(vec![follow]);
        }
    }
    clusters
}

/// Whether alike tokens are the values of a parameter.
#[allow(clippy::cast_precision_loss, reason = "a mean")]
fn is_parameter(cluster: &[Follow], is_root: bool, thresholds: &Thresholds) -> bool {
    let mut seen: BTreeMap<u64, (usize, bool)> = BTreeMap::new();
    for follow in cluster {
        for (element, rich) in &follow.elements {
            let entry = seen.entry(*element).or_insert((0, *rich));
            entry.0 += 1;
        }
    }
    let shared = seen.values().filter(|(count, _)| *count >= 2 && 2 * count >= cluster.len());
    let rich = shared.clone().filter(|(_, rich)| *rich).count();
    let weight: f64 = cluster.iter().map(|it| it.weight).sum();
    let each = weight / (cluster.len() * shared.count().max(1)) as f64;
    let valueish = 2 * cluster.iter().filter(|it| it.is_valueish).count() > cluster.len();
    cluster.len()
        >= fewest(thresholds, each <= thresholds.of(Threshold::Open) || valueish, is_root, rich)
}

/// Values of a form are values. Where most of a parameter look opaque, words and numbers of the same length belong to
/// it by accident; where most are words, numbers among them do.
fn absorb(
    tree: &Tree<'_>,
    mut values: Vec<(Form, Follow)>,
    parameters: &mut Vec<Vec<Follow>>,
    decided: &mut Decided,
    at: usize,
) {
    let thresholds = &tree.thresholds;
    let by_accident = thresholds.count(Threshold::Accident);
    let order = |form: Form| match form {
        Form::Opaque => 0,
        Form::Hex(_) => 1,
        Form::RawIp => 3,
        _ => 2,
    };
    values.sort_by_key(|(form, it)| (order(*form), it.candidate.token));
    let mut homes: Vec<(Vec<Follow>, Spread)> = Vec::new();
    for (form, value) in values {
        let spread = Spread::of(tree, &value, at);
        let texts = |home: &[Follow]| home.iter().map(|it| it.texts).sum::<usize>();
        if let Some(parameter) = parameters.iter_mut().find(|it| {
            2 * texts(it) >= value.texts
                && (it[0].is_like(&value, thresholds) || value.is_like(&it[0], thresholds))
        }) {
            parameter.push(value);
            continue;
        }
        // An address is one in either form.
        if form == Form::RawIp
            && let Some((home, _)) = homes.iter_mut().find(|(home, _)| home[0].is_address(tree))
        {
            home.push(value);
            continue;
        }
        let home = homes.iter_mut().find(|(home, kept)| {
            home[0].texts >= by_accident * value.texts
                && kept.holds(&spread)
                && (home[0].is_like(&value, thresholds) || value.is_like(&home[0], thresholds))
        });
        match home {
            Some((home, _)) if form != Form::Uuid => home.push(value),
            _ => homes.push((vec![value], spread)),
        }
    }
    // Words that look like one of the values, and are followed by the same.
    for (home, kept) in &mut homes {
        if !kept.mixed {
            continue;
        }
        let take =
            |it: &Follow| kept.holds(&Spread::of(tree, it, at)) && home[0].is_like(it, thresholds);
        let mut rest = Vec::new();
        let mut taken = Vec::new();
        for parameter in std::mem::take(parameters) {
            let few =
                parameter.iter().map(|it| it.texts).sum::<usize>() * by_accident <= home[0].texts;
            let (mine, others): (Vec<Follow>, Vec<Follow>) =
                parameter.into_iter().partition(|it| few && take(it));
            taken.extend(mine);
            if !others.is_empty() {
                rest.push(others);
            }
        }
        *parameters = rest;
        home.extend(taken);
    }
    let common = BTreeSet::new();
    for (home, kept) in &mut homes {
        if kept.mixed && home[0].texts >= 2 * thresholds.count(Threshold::Fewest) {
            let words = std::mem::take(&mut decided.words);
            for word in words {
                let follow = Follow::of(tree, word, at, &common);
                let plain = Follow::of(tree, home[0].candidate.clone(), at, &common);
                if kept.holds(&Spread::of(tree, &follow, at)) && plain.is_like(&follow, thresholds)
                {
                    home.push(follow);
                } else {
                    decided.words.push(follow.candidate);
                }
            }
        }
    }
    decided.values.extend(homes.into_iter().map(|(home, _)| items(home)));
}

/// The lengths and the characters of texts.
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own")]
struct Spread {
    least: usize,
    most: usize,
    hex: bool,
    upper: bool,
    lower: bool,
    /// Whether the texts have letters and digits, as ids have that may by accident be a word or a number
    mixed: bool,
}

impl Spread {
    fn of(tree: &Tree<'_>, follow: &Follow, at: usize) -> Self {
        let texts =
            || follow.candidate.items.iter().map(|it| tree.keys[it.key as usize].segments[at].text);
        let any = |is: fn(&u8) -> bool| texts().any(|text| text.iter().any(is));
        let form = tree.tokens[follow.candidate.token as usize].is_value;
        Spread {
            least: texts().map(<[u8]>::len).min().unwrap_or(0),
            most: texts().map(<[u8]>::len).max().unwrap_or(0),
            hex: texts().all(|text| text.iter().all(u8::is_ascii_hexdigit)),
            upper: any(u8::is_ascii_uppercase),
            lower: any(u8::is_ascii_lowercase),
            mixed: matches!(form, Some(Form::Opaque | Form::Hex(_))),
        }
    }

    fn holds(&self, other: &Spread) -> bool {
        self.mixed
            && (self.least..=self.most).contains(&other.least)
            && other.most <= self.most
            && (other.hex || !self.hex)
            && (self.upper || !other.upper)
            && (self.lower || !other.lower)
    }
}
