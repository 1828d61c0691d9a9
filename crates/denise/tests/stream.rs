//! Streams through the public interface: on simulated and on real returns.

use denise::unrolled::{CHECK, CLEARLY};
use denise::{Element, Model, Options, Outputs, Report, Status, Stream, StreamOptions};
use denise_data::random::Random;

/// Everything that a tick gives.
#[derive(Clone, Debug)]
struct Tick<F> {
    u: Vec<F>,
    l: Vec<F>,
    s: Vec<F>,
    reports: Vec<Report>,
}

impl<F: Element + Default + Clone> Tick<F> {
    fn new(stream: &Stream) -> Tick<F> {
        let (n, k, count) = (stream.n(), stream.k(), stream.streams());
        Tick {
            u: vec![F::default(); count * n * k],
            l: vec![F::default(); count * n * n],
            s: vec![F::default(); count * n * n],
            reports: vec![Report::default(); count],
        }
    }

    fn out(&mut self) -> Outputs<'_, F> {
        Outputs {
            u: Some(&mut self.u),
            l: Some(&mut self.l),
            s: Some(&mut self.s),
            reports: Some(&mut self.reports),
        }
    }
}

/// A tick in which every bit counts.
fn bits<F: Copy + Into<f64>>(tick: &Tick<F>) -> Vec<u64> {
    let all = tick.u.iter().chain(&tick.l).chain(&tick.s);
    let numbers = all.map(|&x| x.into());
    let reports = tick.reports.iter().flat_map(|report| {
        let Report {
            l1,
            residual,
            sparsity,
            status,
            unsettled,
            least_specific,
            missing,
            first_bad,
        } = *report;
        let figures = [l1, residual, sparsity, unsettled, least_specific].map(f64::from);
        let counts = [f64::from(status), f64::from(missing), f64::from(first_bad)];
        figures.into_iter().chain(counts)
    });
    numbers.chain(reports).map(f64::to_bits).collect()
}

fn push<F: Element + Default + Copy>(stream: &mut Stream, returns: &[f64]) -> Tick<F>
where
    f64: Cast<F>,
{
    let returns: Vec<F> = returns.iter().map(|&x| x.cast()).collect();
    let mut tick = Tick::new(stream);
    let result = stream.push(&returns, tick.out());
    assert!(result.is_ok() || result.unwrap_err().status == Status::NotFinite);
    tick
}

trait Cast<F> {
    fn cast(self) -> F;
}

impl Cast<f32> for f64 {
    fn cast(self) -> f32 {
        self as f32
    }
}

impl Cast<f64> for f64 {
    fn cast(self) -> f64 {
        self
    }
}

/// Returns of `count` streams: three factors that drift, and noise; NaN for some if there are `gaps`.
struct Market {
    n: usize,
    u: Vec<f64>,
    random: Random,
    gaps: bool,
}

impl Market {
    fn new(n: usize, count: usize, seed: u64, gaps: bool) -> Market {
        let mut random = Random::new(seed);
        Market {
            n,
            u: (0..count * n * 3).map(|_| random.normal()).collect(),
            random,
            gaps,
        }
    }

    fn tick(&mut self) -> Vec<f64> {
        let mut all = Vec::new();
        for u in self.u.chunks_exact_mut(self.n * 3) {
            let factors: [f64; 3] = std::array::from_fn(|_| self.random.normal());
            for u in u.chunks_exact_mut(3) {
                let mut x = 0.5 * self.random.normal();
                for (u, f) in u.iter_mut().zip(factors) {
                    *u += 0.01 * self.random.normal();
                    x += *u * f;
                }
                let gap = self.gaps && self.random.uniform() < 0.02;
                all.push(if gap { f64::NAN } else { 0.01 * x });
            }
        }
        all
    }
}

fn stream(n: usize, k: usize, options: StreamOptions) -> Stream {
    let model = Model::builtin(&Options::size(n, k)).unwrap();
    model.stream(&options).unwrap()
}

/// Ways to be asked.
fn ways() -> Vec<StreamOptions> {
    let usual = StreamOptions::default();
    vec![
        usual,
        StreamOptions {
            correlation: true,
            ..usual
        },
        StreamOptions {
            window: 30,
            demean: true,
            correlation: true,
            ..usual
        },
        StreamOptions {
            window: 12,
            warm_up: 9,
            ..usual
        },
        StreamOptions {
            half_life: 10.0,
            demean: true,
            ..usual
        },
    ]
}

fn alone_and_among_others<F: Element + Default + Copy + Into<f64>>()
where
    f64: Cast<F>,
{
    for way in ways() {
        for (n, k, count, gaps) in [(7, 2, 11, false), (20, 3, 9, true), (6, 5, 3, true)] {
            let many = StreamOptions {
                streams: count,
                ..way
            };
            let mut many = stream(n, k, many);
            let mut each: Vec<Stream> = (0..count).map(|_| stream(n, k, way)).collect();
            let mut market = Market::new(n, count, 5, gaps);
            for tick in 0..90 {
                if tick == 47 {
                    // One of many may begin again.
                    many.reset_one(1).unwrap();
                    each[1].reset();
                }
                let returns = market.tick();
                let all = push::<F>(&mut many, &returns);
                for (i, each) in each.iter_mut().enumerate() {
                    let own = push::<F>(each, &returns[i * n..(i + 1) * n]);
                    let (size, factor) = (n * n, n * k);
                    let among = Tick {
                        u: all.u[i * factor..(i + 1) * factor].to_vec(),
                        l: all.l[i * size..(i + 1) * size].to_vec(),
                        s: all.s[i * size..(i + 1) * size].to_vec(),
                        reports: vec![all.reports[i]],
                    };
                    assert_eq!(bits(&own), bits(&among), "{way:?} n {n} stream {i} {tick}");
                }
            }
        }
    }
}

#[test]
fn a_stream_is_the_same_alone_and_among_others() {
    alone_and_among_others::<f32>();
    alone_and_among_others::<f64>();
}

#[test]
fn restoring_and_going_on_gives_the_same_bits() {
    for way in ways() {
        let (n, k, count) = (9, 2, 10);
        let way = StreamOptions {
            streams: count,
            ..way
        };
        let mut market = Market::new(n, count, 6, way.correlation);
        let mut first = stream(n, k, way);
        for tick in 0..50 {
            let mut returns = market.tick();
            if tick == 47 {
                // A tick at which nothing is known of one stream.
                returns[7 * n] = f64::INFINITY;
            }
            push::<f32>(&mut first, &returns);
        }
        let mut state = vec![0; first.state_size()];
        first.save(&mut state).unwrap();
        let mut covariance = vec![0.0; count * n * n];
        first.covariance(&mut covariance).unwrap();
        let mut second = stream(n, k, way);
        second.restore(&state).unwrap();
        let mut again = vec![0.0; count * n * n];
        second.covariance(&mut again).unwrap();
        let exact = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(exact(&covariance), exact(&again));
        // One of them goes on alone, and in another place.
        let mut one = vec![0; first.state_size_one()];
        first.save_one(7, &mut one).unwrap();
        let mut alone = stream(n, k, StreamOptions { streams: 1, ..way });
        alone.restore(&one).unwrap();
        let mut moved = stream(n, k, way);
        moved.restore(&state).unwrap();
        moved.restore_one(2, &one).unwrap();
        for _ in 0..45 {
            let returns = market.tick();
            let (a, b) = (
                push::<f64>(&mut first, &returns),
                push::<f64>(&mut second, &returns),
            );
            assert_eq!(bits(&a), bits(&b), "{way:?}");
            let own = &returns[7 * n..8 * n];
            let c = push::<f64>(&mut alone, own);
            let mut elsewhere = returns.clone();
            elsewhere[2 * n..3 * n].copy_from_slice(own);
            let d = push::<f64>(&mut moved, &elsewhere);
            let size = n * n;
            let exact = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(exact(&c.l), exact(&a.l[7 * size..8 * size]), "{way:?}");
            assert_eq!(exact(&c.l), exact(&d.l[2 * size..3 * size]), "{way:?}");
        }
    }
}

#[test]
fn damaged_states_are_refused_and_change_nothing() {
    let options = StreamOptions {
        window: 5,
        demean: true,
        ..StreamOptions::default()
    };
    let mut market = Market::new(3, 1, 8, false);
    let mut kept = stream(3, 1, options);
    for _ in 0..9 {
        push::<f32>(&mut kept, &market.tick());
    }
    let mut state = vec![0; kept.state_size()];
    kept.save(&mut state).unwrap();
    let status = |stream: &mut Stream, state: &[u8]| stream.restore(state).unwrap_err().status;
    for at in 0..state.len() {
        let mut damaged = state.clone();
        damaged[at] ^= 0x10;
        assert_eq!(status(&mut kept, &damaged), Status::Format, "byte {at}");
    }
    for len in [0, 7, 8, 48, state.len() - 8, state.len() - 1] {
        assert_eq!(status(&mut kept, &state[..len]), Status::Format);
    }
    let mut long = state.clone();
    long.push(0);
    assert_eq!(status(&mut kept, &long), Status::Format);
    let mut after = vec![0; state.len()];
    kept.save(&mut after).unwrap();
    assert_eq!(state, after, "nothing was changed");
    let short = kept.save(&mut after[1..]).unwrap_err();
    assert_eq!(short.status, Status::Shape);
    // Of other streams.
    let other = |n, k, options| stream(n, k, options).restore(&state).unwrap_err().status;
    assert_eq!(other(4, 1, options), Status::Shape);
    assert_eq!(other(3, 2, options), Status::Shape);
    let two = StreamOptions {
        streams: 2,
        ..options
    };
    assert_eq!(other(3, 1, two), Status::Shape);
    for different in [
        StreamOptions {
            window: 6,
            ..options
        },
        StreamOptions {
            demean: false,
            ..options
        },
        StreamOptions {
            warm_up: 4,
            ..options
        },
        StreamOptions {
            correlation: true,
            ..options
        },
    ] {
        assert_eq!(other(3, 1, different), Status::Argument);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let model = Model::builtin(&Options::size(5, 2)).unwrap();
    let usual = StreamOptions::default();
    for (bad, word) in [
        (
            StreamOptions {
                streams: 0,
                ..usual
            },
            "streams is 0",
        ),
        (StreamOptions { window: 1, ..usual }, "window is 1"),
        (
            StreamOptions {
                window: 9,
                half_life: 3.0,
                ..usual
            },
            "one of them",
        ),
        (
            StreamOptions {
                half_life: f64::NAN,
                ..usual
            },
            "half_life is NaN",
        ),
        (
            StreamOptions {
                half_life: -1.0,
                ..usual
            },
            "half_life is -1",
        ),
        (
            StreamOptions {
                window: 9,
                warm_up: 10,
                ..usual
            },
            "warm_up is 10",
        ),
    ] {
        let error = model.stream(&bad).err().expect("refused");
        assert_eq!(error.status, Status::Argument);
        assert!(error.message.contains(word), "{error}");
    }
    let mut stream = model.stream(&usual).unwrap();
    let error = stream.push(&[0.0_f32; 4], Outputs::default()).unwrap_err();
    assert_eq!(error.status, Status::Shape);
    let mut l = [0.0_f32; 24];
    let out = Outputs {
        l: Some(&mut l[..]),
        ..Outputs::default()
    };
    assert_eq!(
        stream.push(&[0.0; 5], out).unwrap_err().status,
        Status::Shape
    );
    assert_eq!(stream.reset_one(1).unwrap_err().status, Status::Argument);
    let careful = Options {
        careful: true,
        ..Options::size(5, 2)
    };
    let model = Model::builtin(&careful).unwrap();
    let error = model.stream(&usual).err().expect("refused");
    assert_eq!(error.status, Status::Unsupported);
}

#[test]
fn the_first_ticks_are_not_ready_and_bad_returns_do_no_harm() {
    let mut good = stream(6, 2, StreamOptions::default());
    let mut met = stream(6, 2, StreamOptions::default());
    let mut market = Market::new(6, 1, 9, false);
    for tick in 0..40 {
        let returns = market.tick();
        if tick == 20 {
            let mut bad = returns.clone();
            bad[3] = f64::INFINITY;
            let mut out = Tick::<f64>::new(&met);
            let error = met.push(&bad, out.out()).unwrap_err();
            assert_eq!(error.status, Status::NotFinite);
            assert!(out.l.iter().chain(&out.s).chain(&out.u).all(|x| x.is_nan()));
            let report = out.reports[0];
            assert_eq!(report.status, Status::NotFinite as i32);
            assert_eq!(report.first_bad, 3);
        }
        let (a, b) = (
            push::<f64>(&mut good, &returns),
            push::<f64>(&mut met, &returns),
        );
        assert_eq!(bits(&a), bits(&b), "{tick}");
        let ready = tick + 1 >= 4;
        let status = if ready { Status::Ok } else { Status::NotReady };
        assert_eq!(a.reports[0].status, status as i32, "{tick}");
        assert_eq!(a.l[0].is_nan(), !ready);
    }
}

/// An asset that lists later, and one that ends.
#[test]
fn assets_come_and_go() {
    let (n, k) = (12, 3);
    let mut live = stream(
        n,
        k,
        StreamOptions {
            window: 40,
            correlation: true,
            warm_up: 10,
            ..StreamOptions::default()
        },
    );
    let mut market = Market::new(n, 1, 10, false);
    let size = |tick: &Tick<f64>, i: usize| tick.l[i * n + i];
    let mut last = None;
    for tick in 0..300 {
        let mut returns = market.tick();
        if tick < 100 {
            returns[4] = f64::NAN;
        }
        if tick >= 180 {
            returns[7] = f64::NAN;
        }
        let now = push::<f64>(&mut live, &returns);
        if tick < 10 {
            continue;
        }
        // Known from the tenth common tick on; gone when fewer than ten are left in the window.
        if tick < 109 {
            assert_eq!(size(&now, 4), 0.0, "{tick}");
        }
        if tick >= 180 + 31 {
            assert_eq!(size(&now, 7), 0.0, "{tick}");
            assert!(now.s[7 * n].is_nan(), "{tick}");
            assert!(now.reports[0].missing > 0);
        }
        assert!(now.l.iter().all(|x| x.is_finite()), "{tick}");
        last = Some(now);
    }
    let last = last.unwrap();
    // By then the new one has found its place: most of its variance is explained, as that of the others is.
    assert!(size(&last, 4) > 0.5 * (size(&last, 4) + last.s[4 * n + 4]));
}

/// Markets that change into others overnight.
fn regimes() -> Vec<f64> {
    let each = (0..8).map(|seed| {
        let mut market = Market::new(20, 1, 100 + seed, false);
        (0..150).flat_map(|_| market.tick()).collect()
    });
    each.collect::<Vec<Vec<f64>>>().concat()
}

/// What the program measures on real returns, 1990 to 2022, is in `cli/src/robustness`.
#[test]
fn a_stream_that_has_lost_its_way_finds_back() {
    let returns = regimes();
    for way in [
        StreamOptions {
            window: 100,
            demean: true,
            correlation: true,
            ..StreamOptions::default()
        },
        StreamOptions {
            half_life: 20.0,
            correlation: true,
            ..StreamOptions::default()
        },
    ] {
        let options = Options {
            correlation: true,
            ..Options::size(20, 3)
        };
        let model = Model::builtin(&options).unwrap();
        let mut live = model.stream(&way).unwrap();
        let mut m = vec![0.0; 400];
        let (mut splits, mut lost, mut longest) = (0, 0, 0);
        let (mut before, mut jumps) = (None::<Vec<f64>>, 0);
        for returns in returns.chunks_exact(20) {
            let tick = push::<f64>(&mut live, returns);
            if tick.reports[0].status != 0 {
                continue;
            }
            live.covariance(&mut m).unwrap();
            let unknown = m.iter().any(|x| x.is_nan());
            let mut s = vec![0.0; 400];
            let out = Outputs {
                s: Some(&mut s),
                ..Outputs::default()
            };
            model.decompose(&m, out).unwrap();
            // In units of correlations, which is what the network explains.
            let size = |s: &[f64]| -> f64 {
                let unit = |i: usize| m[i * 21].max(f64::MIN_POSITIVE).sqrt();
                let each = s.iter().enumerate();
                each.map(|(at, x)| x.abs() / (unit(at / 20) * unit(at % 20)))
                    .sum()
            };
            let (stream, scratch) = (size(&tick.s), size(&s));
            assert!(!unknown && stream.is_finite());
            if splits % CHECK == 0 {
                let most = scratch / CLEARLY * (1.0 + 1e-9);
                assert!(stream <= most, "{way:?} split {splits}: {stream} {scratch}");
            }
            lost = if stream > 1.1 * scratch { lost + 1 } else { 0 };
            longest = longest.max(lost);
            if let Some(before) = before {
                let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
                let step = norm(&mut tick.u.iter().zip(&before).map(|(x, y)| x - y));
                let u = norm(&mut tick.u.iter().copied());
                // A column that flips, or two that change places, would be more.
                jumps += usize::from(step > 0.8 * u);
            }
            before = Some(tick.u);
            splits += 1;
        }
        assert!(splits > 1000);
        assert!(longest <= 20, "{way:?}: {longest} ticks in a row");
        assert_eq!(jumps, 0, "{way:?}");
    }
}

/// The caller's own matrices: the path of a stream that gets returns, if they are its covariances.
#[test]
fn matrices_are_followed_like_returns() {
    let (n, k) = (8, 2);
    let mut live = stream(n, k, StreamOptions::default());
    let mut given = stream(n, k, StreamOptions::default());
    let mut market = Market::new(n, 1, 12, false);
    let mut m = vec![0.0; n * n];
    for tick in 0..60 {
        let from_returns = push::<f64>(&mut live, &market.tick());
        if tick + 1 < 4 {
            continue;
        }
        live.covariance(&mut m).unwrap();
        let mut from_matrices = Tick::<f64>::new(&given);
        given.push_matrices(&m, from_matrices.out()).unwrap();
        assert_eq!(bits(&from_returns), bits(&from_matrices), "{tick}");
        // L = UUᵀ, and L + S is M.
        for i in 0..n {
            for j in 0..n {
                let u = |i: usize| &from_returns.u[i * k..(i + 1) * k];
                let product: f64 = u(i).iter().zip(u(j)).map(|(x, y)| x * y).sum();
                let l = from_returns.l[i * n + j];
                let size = (m[i * n + i] * m[j * n + j]).sqrt();
                assert!((product - l).abs() <= 1e-12 * size, "{product} {l}");
                assert!((l + from_returns.s[i * n + j] - m[i * n + j]).abs() <= 1e-12 * size);
            }
        }
    }
    m[3 * n + 1] = f64::NAN;
    let mut out = Tick::<f64>::new(&given);
    let error = given.push_matrices(&m, out.out()).unwrap_err();
    assert_eq!(error.status, Status::NotFinite);
    assert_eq!(out.reports[0].first_bad as usize, 3 * n + 1);
}
