//! A believable keyspace on a real server, as large as wanted: the kinds of keys that the five
//! conventions have, a few per cent of old and unknown names among them.

use super::corpus::Random;
use anyhow::{Result, ensure};
use keyward_testkit::{Reply, Server};

/// Fills a server with so many keys, the same in every run.
pub(super) fn fill(server: &Server, count: usize) -> Result<()> {
    const ROUND: usize = 10_000;
    let mut random = Random::new();
    let mut connection = server.connect();
    let mut commands = Vec::with_capacity(2 * ROUND);
    for number in 0..count {
        key(number, &mut random, &mut commands);
        if commands.len() >= ROUND || number + 1 == count {
            let replies = connection.pipeline(&commands)?;
            let refused = replies.iter().find(|reply| matches!(reply, Reply::Error(_)));
            ensure!(refused.is_none(), "{server} refuses a key: {refused:?}");
            commands.clear();
        }
    }
    Ok(())
}

/// The commands that make one key.
fn key(number: usize, random: &mut Random, commands: &mut Vec<Vec<String>>) {
    let id = random.uuid();
    let ttl = (60_000 + random.below(86_400_000)).to_string();
    let text = |random: &mut Random, most: usize| "x".repeat(20 + random.below(most));
    let strings = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
    match number % 40 {
        0..8 => {
            let key = format!("xc:file:{id}:meta");
            let (name, size) = (format!("file{number}.txt"), random.below(1 << 24).to_string());
            let owner = random.uuid();
            commands.push(strings(&[
                "HSET",
                &key,
                "name",
                &name,
                "size",
                &size,
                "mime",
                "text/plain",
                "owner",
                &owner,
            ]));
            commands.push(strings(&["PEXPIRE", &key, &ttl]));
        }
        8..14 => {
            let (key, value) = (format!("xc:folder:{id}:listing"), text(random, 280));
            commands.push(strings(&["SET", &key, &value, "PX", &ttl]));
        }
        14..20 => {
            let (key, value) = (format!("session:active:{id}"), text(random, 140));
            commands.push(strings(&["SET", &key, &value, "PX", &ttl]));
        }
        20..25 => {
            let key = format!("perm:{id}:{number}");
            commands.push(strings(&["SET", &key, "editor", "PX", &ttl]));
        }
        25..29 => {
            let (key, used) = (format!("xc:quota:{id}:used"), random.below(1 << 30).to_string());
            commands.push(strings(&["SET", &key, &used]));
        }
        29..32 => {
            let mut command = strings(&["SADD", &format!("search:index:{id}")]);
            let count = 1 + random.below(20);
            command.extend((0..count).map(|_| random.below(1 << 40).to_string()));
            commands.push(command);
        }
        32..35 => {
            let mut command = strings(&["ZADD", &format!("rank:{id}:day")]);
            for _ in 0..=random.below(10) {
                command.push(random.below(1_000_000).to_string());
                command.push(format!("member:{}", random.below(1 << 20)));
            }
            commands.push(command);
        }
        35..37 => {
            let mut command = strings(&["RPUSH", &format!("queue:{id}")]);
            let count = 1 + random.below(8);
            command.extend((0..count).map(|_| format!("job:{}", random.below(1 << 20))));
            commands.push(command);
        }
        37 => {
            let key = format!("rate:login:{}:{number}", random.below(1 << 32));
            commands.push(strings(&["SET", &key, "3", "PX", &ttl]));
        }
        38 => commands.push(strings(&["SET", &format!("BO:User:Mapping:{number}"), &id])),
        _ => commands.push(strings(&["SET", &format!("tmp_{id}"), "1"])),
    }
}
