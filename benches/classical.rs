//! Criterion benches of the classical methods, one matrix at a time on one core.

mod matrices;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use denise_rust::Outputs;
use denise_rust::classical::{Method, Solver};
use matrices::matrices;

fn benches(criterion: &mut Criterion) {
    for (n, k, count) in [(20, 3, 16), (50, 5, 4)] {
        let mut group = criterion.benchmark_group(format!("classical n{n} k{k}"));
        group.sample_size(20);
        group.throughput(Throughput::Elements(count as u64));
        let m: Vec<f64> = matrices(n, k, count).into_iter().map(f64::from).collect();
        let (mut l, mut s) = (m.clone(), m.clone());
        for method in Method::ALL {
            let mut solver = Solver::new(method, n, k, 0.0).expect("supported");
            group.bench_function(BenchmarkId::from_parameter(method.name()), |bencher| {
                bencher.iter(|| solver.solve(&m, Outputs::parts(&mut l, &mut s)));
            });
        }
    }
}

criterion_group!(all, benches);
criterion_main!(all);
