//! Values come back as they were, and no bytes are a panic.

use keyward::kind::{Json, Plain, Zstd};
use keyward::{Codec, Timestamp, Unix, UnixMs, Uuid};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Debug;

fn round_trip<V: PartialEq + Debug, C: Codec<V>>(value: &V) {
    let bytes = C::encode(value).unwrap();
    assert_eq!(C::decode(&bytes).as_ref(), Ok(value), "{:?}", bytes.escape_ascii().to_string());
}

proptest! {
    #[test]
    fn plain_values_come_back(
        text: String, bytes: Vec<u8>, int: i64, uint: u64, truth: bool, id: u128,
        float in prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL | prop::num::f64::INFINITE,
        unix in 0..=253_402_300_799u64,
    ) {
        round_trip::<_, Plain>(&text);
        round_trip::<_, Plain>(&bytes);
        round_trip::<_, Plain>(&int);
        round_trip::<_, Plain>(&uint);
        round_trip::<_, Plain>(&truth);
        round_trip::<_, Plain>(&float);
        round_trip::<_, Plain>(&Uuid::from_u128(id));
        round_trip::<_, Plain>(&Unix::new(unix).unwrap());
        round_trip::<_, Plain>(&UnixMs::new(unix * 1000 + 7).unwrap());
    }

    #[test]
    fn json_comes_back_compressed_or_not(value in btree_map(any::<String>(), vec(any::<i64>(), 0..50), 0..50)) {
        round_trip::<BTreeMap<String, Vec<i64>>, Json>(&value);
        round_trip::<BTreeMap<String, Vec<i64>>, Zstd<Json>>(&value);
        let bytes = <Zstd<Json> as Codec<BTreeMap<String, Vec<i64>>>>::encode(&value).unwrap();
        for end in 0..bytes.len() {
            let cut = <Zstd<Json> as Codec<BTreeMap<String, Vec<i64>>>>::decode(&bytes[..end]);
            prop_assert!(cut.is_err(), "cut at {end} of {}", bytes.len());
        }
    }

    #[test]
    fn no_bytes_are_a_panic(bytes: Vec<u8>) {
        let _ = <Plain as Codec<String>>::decode(&bytes);
        let _ = <Plain as Codec<i64>>::decode(&bytes);
        let _ = <Plain as Codec<f64>>::decode(&bytes);
        let _ = <Plain as Codec<Uuid>>::decode(&bytes);
        let _ = <Plain as Codec<Timestamp>>::decode(&bytes);
        let _ = <Json as Codec<Vec<String>>>::decode(&bytes);
        let _ = <Zstd<Json> as Codec<Vec<String>>>::decode(&bytes);
        let mut framed = vec![0x28, 0xb5, 0x2f, 0xfd];
        framed.extend(&bytes);
        let _ = <Zstd<Json> as Codec<Vec<String>>>::decode(&framed);
    }
}
