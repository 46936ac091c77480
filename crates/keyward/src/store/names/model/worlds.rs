//! The worlds that are checked.

use super::world::{Act, Program, World, check, check_all};
use super::{ADJACENT, Change, Knows, plan_of};
use crate::store::names::course::{CHANGE, Course, Step};

const SET: Act = Act::Change(Change::Set);
const FILL: Act = Act::Change(Change::Fill);
const PART: Act = Act::Change(Change::Part);
const COUNT: Act = Act::Change(Change::Count);
const DELETED: Act = Act::Change(Change::Delete);
const TAKEN: Act = Act::Change(Change::Take);

/// Changes of the whole value.
const WHOLE: [[Act; 2]; 6] =
    [[SET, SET], [SET, DELETED], [DELETED, SET], [FILL, SET], [FILL, DELETED], [SET, FILL]];
/// Changes that depend on what is there, beside each other and beside those.
const ADDING: [[Act; 2]; 9] = [
    [COUNT, COUNT],
    [PART, PART],
    [COUNT, SET],
    [SET, COUNT],
    [PART, DELETED],
    [DELETED, COUNT],
    [FILL, PART],
    [FILL, COUNT],
    [PART, FILL],
];
/// Those that take a value out, which one slot does.
const TAKING: [[Act; 2]; 3] = [[TAKEN, SET], [COUNT, TAKEN], [FILL, TAKEN]];

/// How much is checked.
#[derive(Clone, Copy)]
struct Bounds {
    /// How many changes each program makes
    changes: usize,
    readers: usize,
    faults: u8,
    expires: bool,
}

/// Everything that is promised: each phase with the next, each kind of change with each, one slot or two, with a plan and
/// without.
fn worlds(bounds: Bounds, pairs: &[[Act; 2]]) -> Vec<World> {
    let Bounds { changes, readers, faults, expires } = bounds;
    let mut worlds = Vec::new();
    // Values that are converted are unknown to stores: programs that know the old name write it.
    let phases = ADJACENT.into_iter().chain([[Knows::OldOnly, Knows::OldOnly]]);
    for ([one, other], split) in phases.flat_map(|it| [(it, false), (it, true)]) {
        let program = |knows, act, count| Program::new(knows, split, vec![act; count]);
        for acts in pairs.iter().filter(|acts| !split || !acts.contains(&TAKEN)) {
            let plan = plan_of(one, other);
            let plans =
                [(one, None, false), (other, None, false), (other, plan, false), (one, plan, true)];
            // See `a_delete_that_ended_half_way_shows_an_old_value_when_its_version_has_ended`.
            let is_last = [one, other] == [Knows::ReadFallback, Knows::Cleanup];
            let is_exempt = expires && split && is_last && acts[0] == DELETED;
            let faults = if is_exempt { 0 } else { faults };
            for (reads, plan, plan_last) in plans {
                if plan_last && plan.is_none() {
                    continue;
                }
                let mut programs =
                    vec![program(one, acts[0], changes), program(other, acts[1], changes)];
                programs.extend(vec![program(reads, Act::Read, 2); readers]);
                for first in [[true, true], [true, false], [false, false]] {
                    if plan_last && first != [true, true] {
                        continue;
                    }
                    // What was there at the beginning and what goes wrong matter apart from each other.
                    let faults = if changes == 1 && first != [true, true] { 0 } else { faults };
                    let programs = programs.clone();
                    worlds.push(World {
                        split,
                        programs,
                        plan,
                        plan_last,
                        first,
                        faults,
                        expires,
                        ..World::default()
                    });
                }
            }
        }
    }
    worlds
}

fn holds(bounds: Bounds, pairs: &[[Act; 2]]) -> usize {
    check_all(&worlds(bounds, pairs)).unwrap_or_else(|how| panic!("{how}"))
}

/// What is promised where a plan converts values and the new name counts: stores know the new name only, and remove the
/// old one with it. Plans of the phase before run beside programs that know the old name only, which [`worlds`] has.
fn converting(bounds: Bounds, pairs: &[[Act; 2]]) -> Vec<World> {
    let Bounds { changes, readers, faults, expires } = bounds;
    let mut worlds = Vec::new();
    let in_each = pairs.iter().flat_map(|it| [(it, false), (it, true)]);
    // Across slots, who takes a value out removes the old name first, so that nothing can come back.
    for (acts, split) in in_each.filter(|(acts, split)| !split || !acts.contains(&TAKEN)) {
        let program = |act, count| Program::new(Knows::Cleanup, split, vec![act; count]);
        // See `a_delete_that_ended_half_way_lets_an_old_value_back_when_its_version_has_ended`.
        let faults = if expires && split && acts.contains(&DELETED) { 0 } else { faults };
        let mut programs = acts.map(|act| program(act, changes)).to_vec();
        programs.extend(vec![program(Act::Read, 2); readers]);
        let plan = Some(Knows::ReadFallback);
        for first in [[true, true], [true, false], [false, true], [false, false]] {
            for plan_last in [false, true] {
                let (programs, converts) = (programs.clone(), true);
                let rest = World::default();
                worlds.push(World {
                    split,
                    converts,
                    programs,
                    plan,
                    plan_last,
                    first,
                    faults,
                    expires,
                    ..rest
                });
            }
        }
    }
    worlds
}

/// All kinds of changes.
fn all_pairs() -> Vec<[Act; 2]> {
    [&WHOLE[..], &ADDING, &TAKING].concat()
}

fn converted(bounds: Bounds) -> usize {
    let worlds = converting(bounds, &all_pairs());
    check_all(&worlds).unwrap_or_else(|how| panic!("{how}"))
}

const SMALL: Bounds = Bounds { changes: 1, readers: 1, faults: 1, expires: false };

/// Changes by each, readers, faults, and whether leases and versions end.
const LARGE: [(usize, usize, u8, bool); 5] =
    [(1, 1, 1, true), (1, 1, 2, false), (2, 1, 0, false), (1, 2, 1, false), (2, 1, 1, false)];

#[test]
fn names_stay_in_step_whatever_happens_in_between() {
    let states = holds(SMALL, &WHOLE);
    assert!(states > 100_000, "{states} states say little");
}

#[test]
fn what_is_added_is_lost_with_the_whole_value_only() {
    let bounds = Bounds { faults: 0, ..SMALL };
    let states = holds(bounds, &ADDING) + holds(bounds, &TAKING);
    assert!(states > 50_000, "{states} states say little");
}

#[test]
fn names_stay_in_step_when_leases_and_versions_end() {
    let bounds = Bounds { faults: 0, expires: true, ..SMALL };
    let states = holds(bounds, &[[SET, DELETED], [FILL, SET], [FILL, DELETED]]);
    assert!(states > 50_000, "{states} states say little");
}

#[test]
fn what_stores_write_is_neither_replaced_nor_brought_back_by_a_plan_that_converts() {
    let states = converted(SMALL);
    assert!(states > 10_000, "{states} states say little");
}

/// As it was before: stores removed the new name only, and the next plan brought the old value back.
#[test]
fn what_is_deleted_comes_back_if_its_old_value_of_another_form_stays() {
    for split in [false, true] {
        let mut deletes = Program::new(Knows::Cleanup, split, vec![DELETED]);
        deletes.removed = deletes.names.clone();
        let reads = Program::new(Knows::Cleanup, split, vec![Act::Read]);
        let plan = Some(Knows::ReadFallback);
        let programs = vec![deletes, reads];
        let world = World { split, converts: true, programs, plan, ..World::default() };
        let error = check(&world).unwrap_err();
        assert!(error.contains("what is promised"), "{error}");
    }
}

/// Across slots, a program that dies while it deletes a key leaves the old name to the next plan, which knows for an hour that
/// the new one was deleted. The old value is older than what others have written under the new name since, and nobody has
/// acknowledged the delete: the guide says so.
#[test]
fn a_delete_that_ended_half_way_lets_an_old_value_back_when_its_version_has_ended() {
    let programs = [vec![SET], vec![DELETED], vec![Act::Read; 2]];
    let programs = programs.map(|acts| Program::new(Knows::Cleanup, true, acts)).to_vec();
    let plan = Some(Knows::ReadFallback);
    let world = World { split: true, converts: true, programs, plan, ..World::default() };
    let faults = World { faults: 1, ..world.clone() };
    check(&faults).unwrap();
    check(&World { expires: true, ..world }).unwrap();
    let error = check(&World { expires: true, ..faults }).unwrap_err();
    assert!(error.contains("what is promised"), "{error}");
}

/// The same between the last two phases without a plan: programs in `cleanup` write the new name only, and who is still in
/// `read-fallback` falls back to the old one.
#[test]
fn a_delete_that_ended_half_way_shows_an_old_value_when_its_version_has_ended() {
    let program = |knows, act: Act, count| Program::new(knows, true, vec![act; count]);
    let programs = vec![
        program(Knows::ReadFallback, DELETED, 1),
        program(Knows::Cleanup, SET, 1),
        program(Knows::ReadFallback, Act::Read, 2),
    ];
    let world = World { split: true, programs, ..World::default() };
    let faults = World { faults: 1, ..world.clone() };
    check(&faults).unwrap();
    check(&World { expires: true, ..world }).unwrap();
    let error = check(&World { expires: true, ..faults }).unwrap_err();
    assert!(error.contains("what is promised"), "{error}");
}

/// While an old name counts that stores do not know, a plan replaces what they write under the new one.
#[test]
fn before_the_new_name_counts_nothing_but_a_plan_may_write_what_it_converts() {
    for split in [false, true] {
        let programs = [SET, Act::Read].map(|act| Program::new(Knows::Cleanup, split, vec![act]));
        let (programs, plan) = (programs.to_vec(), Some(Knows::DualWrite));
        let world = World { split, converts: true, programs, plan, ..World::default() };
        assert!(check(&world).unwrap_err().contains("what is promised"));
    }
}

/// `cargo xtask model`.
#[test]
#[ignore = "takes minutes"]
fn a_plan_that_converts_brings_nothing_back_with_more_of_everything() {
    for (changes, readers, faults, expires) in LARGE {
        let bounds = Bounds { changes, readers, faults, expires };
        let states = converted(bounds);
        println!(
            "converted: {changes} changes by each, {readers} readers, {faults} faults, expiry {expires}: {} worlds, {states} \
             states",
            converting(bounds, &all_pairs()).len()
        );
    }
}

/// `cargo xtask model`.
#[test]
#[ignore = "takes minutes"]
fn names_stay_in_step_with_more_of_everything() {
    for (changes, readers, faults, expires) in LARGE {
        let bounds = Bounds { changes, readers, faults, expires };
        for (what, pairs) in [("whole", &WHOLE[..]), ("adding", &ADDING), ("taking", &TAKING)] {
            // Two changes of each and a fault take an hour where they add.
            if (changes, faults) == (2, 1) && what != "whole" {
                continue;
            }
            let states = holds(bounds, pairs);
            println!(
                "{what}: {changes} changes by each, {readers} readers, {faults} faults, expiry {expires}: \
                 {} worlds, {states} states",
                worlds(bounds, pairs).len()
            );
        }
    }
}

#[test]
fn each_step_of_a_course_is_needed() {
    let all = worlds(Bounds { faults: 0, ..SMALL }, &WHOLE);
    let without = |steps: &[Step], row: usize| {
        let mut steps = steps.to_vec();
        steps.remove(row);
        &*steps.leak()
    };
    let Course { before, after } = CHANGE;
    let first = (0..before.len()).map(|row| Course { before: without(before, row), after });
    let last = (0..after.len()).map(|row| Course { before, after: without(after, row) });
    for course in first.chain(last) {
        let worlds = all.iter().filter(|it| it.split).map(|it| World { course, ..it.clone() });
        let missed = worlds.map(|world| check(&world)).all(|result| result.is_ok());
        assert!(!missed, "nothing fails with {course:?}");
    }
}

/// Programs that know the old name only delete it alone, and the copy under the new name stays.
#[test]
fn before_the_new_name_counts_a_plan_removes_what_the_old_one_does_not_have() {
    for split in [false, true] {
        let deletes = Program::new(Knows::OldOnly, split, vec![DELETED]);
        let mut reads = Program::new(Knows::ReadFallback, split, vec![Act::Read]);
        reads.late = true;
        let programs = vec![deletes, reads];
        let plan = Some(Knows::DualWrite);
        let world = World { split, programs, plan, plan_last: true, ..World::default() };
        check(&world).unwrap();
        let error = check(&World { plan_keeps: true, ..world }).unwrap_err();
        assert!(error.contains("what is promised"), "{error}");
    }
}

/// A store changes a key and another one deletes it, while a plan makes the step of the phase.
fn beside_a_plan(phase: Knows, act: Act, expires: bool) {
    let program = |act| Program::new(phase, true, vec![act]);
    let (programs, plan) = (vec![program(act), program(DELETED)], Some(phase));
    let world = World { split: true, programs, plan, expires, ..World::default() };
    check(&World { plan_last: true, ..world.clone() }).unwrap();
    for first in [[true, true], [true, false], [false, false]] {
        check(&World { first, ..world.clone() }).unwrap();
    }
    if phase == Knows::DualWrite {
        check(&World { first: [false, true], ..world }).unwrap();
    }
}

/// A plan that looked for the old name before it saves the new one would save and remove what a store writes in between;
/// if the version beside it went too, a copy that is late would then remove what the next pass has put there.
#[test]
fn a_copy_that_others_write_while_a_plan_removes_it_stays() {
    beside_a_plan(Knows::DualWrite, SET, false);
}

/// A plan that learned that a store has deleted the key before it saves the old name would save and remove what a store
/// writes in between.
#[test]
fn an_old_name_that_others_write_while_a_plan_removes_it_after_a_delete_stays() {
    beside_a_plan(Knows::ReadFallback, SET, false);
}

/// Who loads takes the lease that a delete leaves. When that ends, or is given back, before the delete has reached the old
/// name, the version beside the new name tells a plan that the key was deleted.
#[test]
fn a_load_that_ends_while_a_key_is_deleted_lets_no_plan_move_it_back() {
    beside_a_plan(Knows::ReadFallback, FILL, true);
}
