//! Criterion benches of `denise_decompose_batch` through the Rust API: batches, sizes, precisions.

mod matrices;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use denise_rust::{Element, InstructionSet, Model, Options, Outputs};
use matrices::matrices;

fn run<F: Element + From<f32>>(
    criterion: &mut Criterion,
    group: &str,
    set: InstructionSet,
    sizes: &[(usize, usize, usize)],
) {
    let mut group = criterion.benchmark_group(group);
    for &(n, k, batch) in sizes {
        let model = Model::builtin(&Options {
            n,
            k,
            max_concurrency: 1,
            instruction_set: set,
            ..Options::default()
        })
        .expect("supported");
        let m: Vec<F> = matrices(n, k, batch).into_iter().map(F::from).collect();
        let (mut l, mut s) = (m.clone(), m.clone());
        group.throughput(Throughput::Elements(batch as u64));
        group.bench_function(
            BenchmarkId::from_parameter(format!("n{n} k{k} batch{batch}")),
            |bencher| {
                bencher.iter(|| {
                    let out = Outputs {
                        l: Some(&mut l[..]),
                        s: Some(&mut s[..]),
                        ..Outputs::default()
                    };
                    model.decompose(&m, out)
                });
            },
        );
    }
}

fn benches(criterion: &mut Criterion) {
    let batches = [1, 7, 8, 9, 16, 1024].map(|batch| (20, 3, batch));
    run::<f32>(criterion, "f32", InstructionSet::Best, &batches);
    run::<f64>(
        criterion,
        "f64",
        InstructionSet::Best,
        &[(20, 3, 1), (20, 3, 1024)],
    );
    run::<f32>(
        criterion,
        "f32 portable",
        InstructionSet::Portable,
        &[(20, 3, 1), (20, 3, 1024)],
    );
    run::<f32>(
        criterion,
        "sizes",
        InstructionSet::Best,
        &[(10, 2, 256), (50, 5, 64), (100, 10, 16), (200, 10, 4)],
    );
}

criterion_group!(all, benches);
criterion_main!(all);
