//! Keys in, answers out, in order and as fast as the pipe is.
//!
//! A thread reads blocks that end with a line and deals them to the workers in turn; the caller's
//! thread collects the answers in the same turn and writes them. Blocks are used again, so that
//! memory does not grow with the input. A block is whatever one read gives: a slow producer sees
//! every answer at once, a fast one gets full blocks.

use super::answer::Answerer;
use memchr::{memchr_iter, memrchr};
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// How much is read at once, if it is there. A pipe holds 64 KiB.
const BLOCK: usize = 256 * 1024;
/// The longest line. Redis allows keys up to 512 MiB, and nobody has them.
pub(super) const MAX_LINE: usize = 16 * 1024 * 1024;
/// How many blocks wait for a worker.
const WAITING: usize = 4;

/// What went through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) keys: u64,
    pub(super) unknown: u64,
}

/// Why it stopped.
#[derive(Debug)]
pub(super) enum Stopped {
    Reading(io::Error),
    Writing(io::Error),
    /// A line longer than [`MAX_LINE`]: this is not a list of keys
    LongLine,
}

/// Answers for every line of `input`, as far as someone reads the answers.
pub(super) fn stream(
    input: impl Read + Send + 'static,
    mut output: impl Write,
    answerer: Answerer,
    workers: usize,
) -> Result<Tally, Stopped> {
    let answerer = Arc::new(answerer);
    let (recycle, recycled) = channel();
    let mut queues = Vec::new();
    let mut results = Vec::new();
    let mut threads = Vec::new();
    for _ in 0..workers.max(1) {
        let (queue, queued) = sync_channel(WAITING);
        let (result, finished) = sync_channel(WAITING);
        let answerer = Arc::clone(&answerer);
        threads.push(thread::spawn(move || work(&answerer, &queued, &result)));
        queues.push(queue);
        results.push(finished);
    }
    // Not scoped: if the output breaks, the program ends while this one still waits for input.
    let reader = thread::spawn(move || read(input, &queues, &recycled));
    let (tally, written) = write(&mut output, &results, &recycle);
    match written {
        Ok(()) => {}
        // Whoever read the answers has seen enough, and the input may go on for long.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(tally),
        Err(error) => return Err(Stopped::Writing(error)),
    }
    threads.into_iter().for_each(join);
    join(reader)?;
    Ok(tally)
}

/// A thread's result; its panic continues in this one.
fn join<T>(thread: JoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Some lines, and the answers to them.
struct Block {
    lines: Vec<u8>,
    /// How much of `lines` is in use
    filled: usize,
    answers: Vec<u8>,
    tally: Tally,
}

impl Block {
    fn new() -> Self {
        Block {
            lines: vec![0; BLOCK],
            filled: 0,
            answers: Vec::with_capacity(BLOCK),
            tally: Tally::default(),
        }
    }
}

fn read(
    mut input: impl Read,
    queues: &[SyncSender<Block>],
    recycled: &Receiver<Block>,
) -> Result<(), Stopped> {
    let mut block = Block::new();
    let mut turn = queues.iter().cycle();
    loop {
        if block.filled == block.lines.len() {
            if block.filled >= MAX_LINE {
                return Err(Stopped::LongLine);
            }
            block.lines.resize(block.filled * 2, 0);
        }
        let got = match input.read(&mut block.lines[block.filled..]) {
            Ok(got) => got,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(Stopped::Reading(error)),
        };
        let fresh = block.filled;
        block.filled += got;
        let end = match memrchr(b'\n', &block.lines[fresh..block.filled]) {
            Some(at) => fresh + at + 1,
            None if got > 0 => continue,
            None => block.filled,
        };
        let mut next = recycled.try_recv().unwrap_or_else(|_| Block::new());
        let rest = block.filled - end;
        if next.lines.len() <= rest {
            next.lines.resize(rest + BLOCK, 0);
        }
        next.lines[..rest].copy_from_slice(&block.lines[end..block.filled]);
        next.filled = rest;
        block.filled = end;
        if end > 0 {
            let Some(queue) = turn.next() else { return Ok(()) };
            // If nobody takes it, the output is broken, which the writer knows best.
            if queue.send(block).is_err() {
                return Ok(());
            }
        }
        if got == 0 {
            return Ok(());
        }
        block = next;
    }
}

fn work(answerer: &Answerer, queued: &Receiver<Block>, finished: &SyncSender<Block>) {
    for mut block in queued {
        block.answers.clear();
        block.tally = answer(answerer, &block.lines[..block.filled], &mut block.answers);
        if finished.send(block).is_err() {
            return;
        }
    }
}

/// Answers for each line; the last may lack its end.
fn answer(answerer: &Answerer, lines: &[u8], answers: &mut Vec<u8>) -> Tally {
    let mut tally = Tally::default();
    let mut values = Vec::new();
    let mut start = 0;
    let unfinished = (!lines.ends_with(b"\n")).then_some(lines.len());
    for end in memchr_iter(b'\n', lines).chain(unfinished) {
        let known = answerer.answer_line(&lines[start..end], &mut values, answers);
        tally.keys += 1;
        tally.unknown += u64::from(!known);
        start = end + 1;
    }
    tally
}

/// Writes the answers in the order of their questions, and says how far it came.
fn write(
    output: &mut impl Write,
    results: &[Receiver<Block>],
    recycle: &Sender<Block>,
) -> (Tally, io::Result<()>) {
    let mut tally = Tally::default();
    // Blocks are dealt in turn, so the first worker without one is behind the last block.
    for finished in results.iter().cycle() {
        let Ok(block) = finished.recv() else { break };
        tally.keys += block.tally.keys;
        tally.unknown += block.tally.unknown;
        if let Err(error) = output.write_all(&block.answers) {
            return (tally, Err(error));
        }
        // The reader may be done already.
        let _ = recycle.send(block);
    }
    (tally, output.flush())
}
