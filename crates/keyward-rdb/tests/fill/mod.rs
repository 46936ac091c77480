//! Fills a server with a few thousand keys of every kind and size.

use keyward_testkit::{Connection, Reply};

pub(crate) fn fill(connection: &mut Connection) {
    let commands = commands();
    for reply in connection.pipeline(&commands).unwrap() {
        assert!(!matches!(reply, Reply::Error(_)), "{reply:?}");
    }
}

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn text(&mut self, length: u64) -> String {
        (0..length)
            .map(|_| {
                char::from(b"abcdefghij0123456789 -_"[usize::try_from(self.below(23)).unwrap()])
            })
            .collect()
    }

    fn name(&mut self, pattern: &str) -> String {
        let length = 1 + self.below(40);
        format!("{pattern}:{}", self.text(length))
    }
}

/// A few hundred keys of every kind and size, by pattern.
fn commands() -> Vec<Vec<String>> {
    let mut numbers = Numbers(7);
    let mut commands: Vec<Vec<String>> = Vec::new();
    let mut add = |words: Vec<String>| commands.push(words);
    for round in 0..300u64 {
        let n = &mut numbers;
        let words = |command: &str, name: String, rest: Vec<String>| {
            [vec![command.to_owned(), name], rest].concat()
        };
        let some = |n: &mut Numbers, most: u64, longest: u64| -> Vec<String> {
            let count = 1 + n.below(most);
            (0..count)
                .map(|_| {
                    let length = 1 + n.below(longest);
                    n.text(length)
                })
                .collect()
        };
        let name = n.name("short");
        add(words("SET", name, some(n, 1, 40)));
        let name = n.name("long");
        let length = 45 + n.below(20_000);
        add(words("SET", name, vec![n.text(length)]));
        let name = n.name("huge");
        let length = 1 + n.below(300_000);
        if round % 20 == 0 {
            add(words("SET", name, vec![n.text(length)]));
        }
        let name = n.name("number");
        add(words("SET", name, vec![(n.below(1 << 31) << n.below(30)).to_string()]));
        let name = n.name("hash_small");
        let fields = some(n, 20, 30).into_iter().flat_map(|field| [field, round.to_string()]);
        add(words("HSET", name, fields.collect()));
        let name = n.name("hash_text");
        let fields = some(n, 10, 20).into_iter().flat_map(|field| [field.clone(), field.repeat(4)]);
        add(words("HSET", name, fields.collect()));
        let name = n.name("list_small");
        add(words("RPUSH", name, some(n, 30, 50)));
        let name = n.name("set_small");
        add(words("SADD", name, some(n, 60, 40)));
        let name = n.name("set_numbers");
        add(words(
            "SADD",
            name,
            (0..=n.below(200)).map(|_| n.below(1 << 40).to_string()).collect(),
        ));
        let name = n.name("zset_small");
        let members = some(n, 40, 30).into_iter().flat_map(|member| [round.to_string(), member]);
        add(words("ZADD", name, members.collect()));
        let name = n.name("stream_small");
        for entry in 0..=n.below(12) {
            let length = 1 + n.below(80);
            let value = n.text(length);
            let id = format!("{}-{entry}", 1_700_000_000_000 + round * 1000);
            add(words("XADD", name.clone(), vec![id, "field".into(), value]));
        }
        if round % 15 == 0 {
            let name = n.name("hash_big");
            let fields = some(n, 3000, 60).into_iter().enumerate();
            add(words(
                "HSET",
                name,
                fields.flat_map(|(i, text)| [format!("f{i}"), text]).collect(),
            ));
            let name = n.name("set_big");
            let members = some(n, 3000, 30).into_iter().enumerate();
            add(words("SADD", name, members.map(|(i, text)| format!("{i}{text}")).collect()));
            let name = n.name("zset_big");
            let members = some(n, 3000, 30).into_iter().enumerate();
            add(words("ZADD", name, members.flat_map(|(i, t)| [i.to_string(), t]).collect()));
            let name = n.name("list_big");
            add(words("RPUSH", name, some(n, 3000, 200)));
            let name = n.name("stream_big");
            for entry in 0..n.below(600) {
                let length = 1 + n.below(300);
                let value = n.text(length);
                add(words(
                    "XADD",
                    name.clone(),
                    vec![format!("{}-1", entry + 1), "f".into(), value],
                ));
            }
            for group in 0..2 {
                let group = format!("group{group}");
                let mut create =
                    vec!["CREATE".to_owned(), name.clone(), group.clone(), "0".to_owned()];
                create.insert(0, "XGROUP".to_owned());
                create.push("MKSTREAM".to_owned());
                add(create);
                let read = ["XREADGROUP", "GROUP", &group, "worker", "COUNT", "50", "STREAMS"];
                let mut read: Vec<String> = read.map(str::to_owned).to_vec();
                read.extend([name.clone(), ">".to_owned()]);
                add(read);
            }
        }
    }
    commands
}
