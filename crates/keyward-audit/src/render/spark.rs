//! Small pictures made of characters.

use crate::report::Ttl;

const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A share as a bar of so many columns. What is there at all shows at least a little.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is 0 to 1")]
#[allow(clippy::cast_precision_loss, reason = "a bar has few columns")]
pub(super) fn bar(share: f64, columns: usize) -> String {
    if share <= 0.0 || share.is_nan() {
        return String::new();
    }
    let eighths = (share.min(1.0) * columns as f64 * 8.0).round().max(1.0) as usize;
    let mut bar: String = std::iter::repeat_n('█', eighths / 8).collect();
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8 - 1]);
    }
    bar
}

/// How long keys live: a column for each bucket, and one for keys without a TTL. A dot is nothing at
/// all, and the tallest column is where most keys are.
pub(super) fn ttl(ttl: &Ttl) -> String {
    let most = ttl.buckets.iter().map(|bucket| bucket.keys).chain([ttl.none]).max().unwrap_or(0);
    let mut strip: String = ttl.buckets.iter().map(|bucket| level(bucket.keys, most)).collect();
    strip.push('│');
    strip.push(level(ttl.none, most));
    strip
}

fn level(keys: u64, most: u64) -> char {
    if keys == 0 {
        return '·';
    }
    let level = u128::from(keys) * 8 / u128::from(most.max(1));
    LEVELS[usize::try_from(level).unwrap_or(8).clamp(1, 8) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::TtlBucket;

    #[test]
    fn what_is_there_shows() {
        assert_eq!(bar(0.0, 4), "");
        assert_eq!(bar(0.000_1, 4), "▏");
        assert_eq!(bar(0.5, 3), "█▌");
        assert_eq!(bar(7.0, 4), "████");
    }

    #[test]
    fn the_tallest_column_is_where_most_keys_are() {
        let buckets = [0, 1, 500, 1000].map(|keys| TtlBucket { up_to: None, keys }).to_vec();
        assert_eq!(ttl(&Ttl { buckets, none: 250, ..Ttl::default() }), "·▁▄█│▂");
    }
}
