//! Which k.

use crate::guard::{code, guard};
use crate::named::{Buffer, Name, check};
use crate::status::denise_status;
use denise_rust::rank;

/// Suggests for each of count matrices how many factors it has: k[i] is from 0, which means that no common factor was
/// found, to most. docs/RANK.md says how often that is right. Allocates, once for each call, and takes about a hundred
/// times as long as a split.
///
/// - n is 2 to 512. most is at most 32; 0: 10. n assets tell few factors apart, whatever most is: 5 for n = 20, 1 for
///   n < 9.
/// - observations is how many observations each matrix was estimated from; 0 if that is not known.
/// - m holds n*n values for each, of which the lower triangle is read. NaN is an entry that is not known, and an asset
///   whose variance is not positive does not count. Neither units nor order of the assets matter.
/// - A matrix with infinity gets 0, and the call returns DENISE_ERR_NOT_FINITE. All others are done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn denise_suggest_rank_batch(
    n: u32,
    most: u32,
    observations: f64,
    count: usize,
    m: *const f64,
    k: *mut u32,
) -> denise_status {
    let (n, most) = (n as usize, most as usize);
    code(guard(|| {
        rank::check(n, most, observations)?;
        let needed = |buffer: Buffer| if count > 0 { buffer.needed() } else { buffer };
        check(&[
            needed(Buffer::new(Name::M, m, count, n * n)),
            needed(Buffer::new(Name::K, k, count, 1)),
        ])?;
        if count == 0 {
            return Ok(());
        }
        // SAFETY: checked; the caller owns so many values in both for the length of the call.
        unsafe {
            let m = core::slice::from_raw_parts(m, count * n * n);
            let k = core::slice::from_raw_parts_mut(k, count);
            rank::suggest(n, most, observations, m, k)
        }
    }))
}
