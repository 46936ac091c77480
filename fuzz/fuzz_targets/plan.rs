//! Any bytes as a plan: no panic, and what is read is written as it was.
#![no_main]

use keyward_plan::Plan;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(plan) = Plan::parse(bytes, "plan.json") {
        let text = serde_json::to_vec(&plan).unwrap();
        assert_eq!(Plan::parse(&text, "plan.json").unwrap(), plan);
    }
});
