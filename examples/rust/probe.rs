//! x
use denise::*;
use std::time::Instant;
fn rng(s: &mut u64) -> f64 {
    *s = s
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    ((*s >> 33) as f64 / (1u64 << 31) as f64)
}
fn normal(s: &mut u64) -> f64 {
    let u = rng(s).max(1e-12);
    let v = rng(s);
    (-2.0 * u.ln()).sqrt() * (6.283185307 * v).cos()
}
fn main() {
    let (n, k, b) = (20, 3, 1024);
    let mut s = 1u64;
    let mut m = vec![0f32; b * n * n];
    let mut l0 = vec![0f32; b * n * n];
    let sp: f64 = std::env::args().nth(1).map_or(0.9, |x| x.parse().unwrap());
    for q in 0..b {
        let u: Vec<f64> = (0..n * k).map(|_| normal(&mut s)).collect();
        for i in 0..n {
            for j in 0..n {
                let x: f64 = (0..k).map(|a| u[i * k + a] * u[j * k + a]).sum();
                m[q * n * n + i * n + j] = x as f32;
                l0[q * n * n + i * n + j] = x as f32;
            }
        }
        let mut nz = 0usize;
        let mut mark = vec![false; n * n];
        while (nz as f64) < (1.0 - sp) * (n * n) as f64 {
            let i = (rng(&mut s) * n as f64) as usize;
            let j = (rng(&mut s) * n as f64) as usize;
            if i == j || mark[i * n + j] {
                continue;
            }
            mark[i * n + j] = true;
            mark[j * n + i] = true;
            nz += 2;
            let bb = rng(&mut s);
            let aa = (rng(&mut s) * 2.0 - 1.0) * bb;
            for (x, y) in [(i, j), (j, i)] {
                m[q * n * n + x * n + y] += aa as f32;
            }
            m[q * n * n + i * n + i] += bb as f32;
            m[q * n * n + j * n + j] += bb as f32;
        }
    }
    let model = Model::builtin(&Options {
        n,
        k,
        ..Default::default()
    })
    .unwrap();
    println!("{:?}", model.kernel());
    let mut l = vec![0f32; b * n * n];
    let mut s_ = l.clone();
    model
        .decompose(
            &m,
            Outputs {
                l: Some(&mut l),
                s: Some(&mut s_),
                ..Default::default()
            },
        )
        .unwrap();
    let mut e = 0.0;
    for q in 0..b {
        let r = q * n * n..(q + 1) * n * n;
        let num: f64 = l[r.clone()]
            .iter()
            .zip(&l0[r.clone()])
            .map(|(a, b)| ((a - b) as f64).powi(2))
            .sum();
        let den: f64 = l0[r].iter().map(|a| (*a as f64).powi(2)).sum();
        e += (num / den).sqrt() / b as f64;
    }
    println!("rel err {e}");
    let only = std::env::args().nth(2).map(|x| x.parse::<usize>().unwrap());
    for count in [1usize, 2, 4, 7, 8, 9, 16, 1024] {
        if only.is_some_and(|o| o != count) {
            continue;
        }
        let mut best = vec![];
        for _ in 0..(if only.is_some() { 300 } else { 30 }) {
            let reps = 2048 / count;
            let t = Instant::now();
            for r in 0..reps {
                let o = (r * count) % (b - count + 1) * n * n;
                model
                    .decompose(
                        &m[o..o + count * n * n],
                        Outputs {
                            l: Some(&mut l[..count * n * n]),
                            s: Some(&mut s_[..count * n * n]),
                            ..Default::default()
                        },
                    )
                    .unwrap();
            }
            best.push(t.elapsed().as_secs_f64() / (reps * count) as f64 * 1e6);
        }
        best.sort_by(f64::total_cmp);
        println!(
            "batch {count}: {:.3} us per matrix (min {:.3})",
            best[15], best[0]
        );
    }
}
