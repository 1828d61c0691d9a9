//! The loop: a batch, a gradient, a step; now and then a validation, a line in the log, a checkpoint.

use super::adam::{Adam, clip, rate};
use super::batch::Batch;
use super::checkpoint::Checkpoint;
use super::graph::{Graph, WEIGHTS};
use super::weights::{Free, confine, free, layer, pull_back};
use burn::tensor::{Device, Tensor, TensorData};
use denise::unrolled::{Curvature, Layer};
use indicatif::{ProgressBar, ProgressStyle};
use std::error::Error;
use std::io::Write;
use std::path::Path;

/// What is trained for.
pub trait Task {
    /// The sizes n and ranks k of its matrices.
    fn sizes(&self) -> Vec<(usize, usize)>;
    /// The matrices of a step, the same ones whenever asked.
    fn batch(&self, step: usize) -> Result<Batch, Box<dyn Error>>;
    /// The loss of a batch for which the network gave L̂.
    fn loss(&mut self, l: Tensor<3>, batch: &Batch) -> Result<Tensor<1>, Box<dyn Error>>;
    /// How good the layers are on matrices that are not trained on: smaller is better.
    fn score(&self, layers: &[Layer]) -> Result<f64, Box<dyn Error>>;
    /// Numbers that the loss remembers from one batch to the next.
    fn memory(&mut self) -> &mut Vec<f64>;
}

/// How it is trained.
#[derive(Clone, Debug)]
pub struct Config {
    /// The weights to start from.
    pub initial: Vec<Layer>,
    /// Steps of gradient descent.
    pub steps: usize,
    /// Largest learning rate.
    pub rate: f64,
    /// Gradients longer than this are shortened to it.
    pub clip: f64,
    /// Steps between two validations.
    pub every: usize,
    /// Validations without a better one after which training ends.
    pub patience: usize,
    /// Which weights are the outcome.
    pub keep: Keep,
    /// All options in a text: a checkpoint of other options is refused.
    pub identity: String,
}

/// Which weights are the outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, clap::ValueEnum)]
pub enum Keep {
    /// Those with the best validation score.
    #[default]
    Best,
    /// The last ones: after a full schedule they are better where errors are large, which the score, a
    /// geometric mean, values no more than where they are small.
    Last,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The network.
    pub layers: Vec<Layer>,
    /// Its validation score, and the step at which it had it.
    pub score: f64,
    /// See `score`.
    pub step: usize,
    /// Steps and losses.
    pub losses: Vec<(f64, f64)>,
    /// Steps and validation scores.
    pub scores: Vec<(f64, f64)>,
}

/// Trains; keeps a checkpoint and a log in `folder`, and goes on from a checkpoint that is there.
pub fn run(
    config: &Config,
    task: &mut impl Task,
    folder: &Path,
    device: &Device,
) -> Result<Outcome, Box<dyn Error>> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let file = folder.join("checkpoint.json");
    let (mut state, resumed) = match Checkpoint::load(&file)? {
        Some(state) if state.config == config.identity => (state, true),
        Some(_) => {
            let name = file.display();
            return Err(format!(
                "{name} belongs to a run with other options: remove it, or choose another --out"
            )
            .into());
        }
        None => (fresh(config), false),
    };
    if resumed {
        task.memory().clone_from(&state.memory);
    }
    let curvatures: Vec<Curvature> = config.initial.iter().map(|x| x.curvature).collect();
    let device = device.clone().autodiff();
    let sizes = task.sizes().into_iter();
    let graphs: Vec<Graph> = sizes
        .map(|(n, k)| Graph::new(n, k, &curvatures, &device))
        .collect();
    if !resumed {
        // What training has to beat.
        validate(&curvatures, &mut state, task)?;
    }
    let log = folder.join("log.jsonl");
    let mut log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(log)?;
    let bar = ProgressBar::new(config.steps as u64).with_position(state.step as u64);
    bar.set_style(ProgressStyle::with_template(
        "{bar:30} {pos}/{len}, {msg}, {eta} left",
    )?);
    while state.step < config.steps && !exhausted(config, &state) {
        let batch = task.batch(state.step)?;
        let layers = layers(&curvatures, &state.free);
        let (loss, mut gradient) = gradient(&graphs[batch.size], batch, &layers, task, &device)?;
        let norm = clip(&mut gradient, config.clip);
        if !norm.is_finite() || !loss.is_finite() {
            let (step, name) = (state.step, file.display());
            return Err(format!(
                "loss or gradient of step {step} is not finite; the last good weights are in {name}. \
                 A smaller --rate may help; please report it, this should not happen"
            )
            .into());
        }
        let mut flat: Vec<f64> = state.free.iter().flatten().copied().collect();
        let now = rate(config.rate, state.step, config.steps);
        state.adam.step(now, &gradient, &mut flat);
        for (to, from) in state.free.iter_mut().zip(flat.as_chunks::<WEIGHTS>().0) {
            *to = *from;
            confine(to);
        }
        state.step += 1;
        state.losses.push((state.step as f64, loss));
        bar.set_position(state.step as u64);
        if state.step % config.every == 0 || state.step == config.steps {
            validate(&curvatures, &mut state, task)?;
            let score = state.scores[state.scores.len() - 1].1;
            bar.set_message(format!("loss {loss:.4}, validation {score:.6}"));
            let line = serde_json::json!({
                "step": state.step, "loss": loss, "validation": score, "rate": now, "gradient": norm,
            });
            writeln!(log, "{line}")?;
            state.memory.clone_from(task.memory());
            state.save(&file)?;
        }
    }
    bar.finish_and_clear();
    let (score, free, step) = match (config.keep, state.scores.last()) {
        (Keep::Last, Some(&(_, score))) => (score, state.free, state.step),
        _ => state.best,
    };
    Ok(Outcome {
        layers: layers(&curvatures, &free),
        score,
        step,
        losses: state.losses,
        scores: state.scores,
    })
}

fn exhausted(config: &Config, state: &Checkpoint) -> bool {
    state.step >= state.best.2 + config.patience * config.every
}

fn fresh(config: &Config) -> Checkpoint {
    let free: Vec<Free> = config.initial.iter().map(free).collect();
    Checkpoint {
        config: config.identity.clone(),
        step: 0,
        adam: Adam::new(free.len() * WEIGHTS),
        memory: Vec::new(),
        best: (f64::MAX, free.clone(), 0),
        losses: Vec::new(),
        scores: Vec::new(),
        free,
    }
}

fn layers(curvatures: &[Curvature], free: &[Free]) -> Vec<Layer> {
    let layers = curvatures.iter().zip(free);
    layers.map(|(&curvature, x)| layer(curvature, x)).collect()
}

fn validate(
    curvatures: &[Curvature],
    state: &mut Checkpoint,
    task: &impl Task,
) -> Result<(), Box<dyn Error>> {
    let score = task.score(&layers(curvatures, &state.free))?;
    state.scores.push((state.step as f64, score));
    if score < state.best.0 {
        state.best = (score, state.free.clone(), state.step);
    }
    Ok(())
}

/// Loss, and its gradient by the free numbers.
fn gradient(
    graph: &Graph,
    batch: Batch,
    layers: &[Layer],
    task: &mut impl Task,
    device: &Device,
) -> Result<(f64, Vec<f64>), Box<dyn Error>> {
    let numbers: Vec<f32> = layers
        .iter()
        .flat_map(Layer::weights)
        .map(|x| x as f32)
        .collect();
    let data = TensorData::new(numbers, [layers.len(), WEIGHTS]);
    let weights = Tensor::<2>::from_data(data, device).require_grad();
    let u = graph.forward(batch.m.clone(), batch.start.clone(), &weights);
    let l = u.clone().matmul(u.swap_dims(1, 2));
    let loss = task.loss(l, &batch)?;
    let value: Vec<f32> = loss.clone().into_data().try_into_vec()?;
    let gradients = loss.backward();
    let gradient = weights
        .grad(&gradients)
        .ok_or("no gradient reached the weights")?;
    let gradient: Vec<f32> = gradient.into_data().try_into_vec()?;
    let gradient: Vec<f64> = gradient.iter().map(|&x| f64::from(x)).collect();
    let rows = gradient.as_chunks::<WEIGHTS>().0;
    let free = layers.iter().zip(rows).flat_map(|(x, g)| pull_back(x, g));
    Ok((f64::from(value[0]), free.collect()))
}

#[cfg(test)]
mod tests {
    use super::super::{Loss, Matrices, Synthetic, initial};
    use super::*;
    use crate::generator::{Cell, Distribution};

    fn task(device: &Device) -> Synthetic {
        let cell = |sparsity| Cell {
            sparsity,
            distribution: Distribution::Normal(0.0, 1.0),
        };
        let kind = |n, cells| Matrices { n, k: 2, cells };
        let kinds = vec![
            kind(8, vec![cell(0.7), cell(0.9)]),
            kind(6, vec![cell(0.9)]),
        ];
        Synthetic::new(kinds, Loss::Supervised, 16, 20, 3, device).unwrap()
    }

    fn config(steps: usize) -> Config {
        Config {
            initial: initial(4, 2),
            steps,
            rate: 0.02,
            clip: 1.0,
            every: 5,
            patience: 100,
            keep: Keep::Best,
            identity: "test".into(),
        }
    }

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("denise-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    /// The same matrices under a loss without kinks, whose slope differences can find.
    struct Smooth(Synthetic);

    impl Task for Smooth {
        fn sizes(&self) -> Vec<(usize, usize)> {
            self.0.sizes()
        }

        fn batch(&self, step: usize) -> Result<Batch, Box<dyn Error>> {
            self.0.batch(step)
        }

        fn loss(&mut self, l: Tensor<3>, batch: &Batch) -> Result<Tensor<1>, Box<dyn Error>> {
            let wrong = l - batch.l.clone().ok_or("no truth")?;
            Ok((wrong.clone() * wrong).mean())
        }

        fn score(&self, layers: &[Layer]) -> Result<f64, Box<dyn Error>> {
            self.0.score(layers)
        }

        fn memory(&mut self) -> &mut Vec<f64> {
            self.0.memory()
        }
    }

    #[test]
    fn gradients_match_finite_differences() {
        let device = Device::flex().autodiff();
        let mut task = Smooth(task(&device));
        let start = initial(4, 2);
        let curvatures: Vec<Curvature> = start.iter().map(|x| x.curvature).collect();
        let graph = Graph::new(8, 2, &curvatures, &device);
        let numbers: Vec<Free> = start.iter().map(free).collect();
        let mut at = |numbers: &[Free]| {
            let batch = task.batch(0).unwrap();
            let layers = layers(&curvatures, numbers);
            gradient(&graph, batch, &layers, &mut task, &device).unwrap()
        };
        let (_, exact) = at(&numbers);
        let largest = exact.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for t in 0..4 {
            for e in 0..WEIGHTS {
                let (mut up, mut down) = (numbers.clone(), numbers.clone());
                up[t][e] += 1e-2;
                down[t][e] -= 1e-2;
                let slope = (at(&up).0 - at(&down).0) / 2e-2;
                let error = (slope - exact[t * WEIGHTS + e]).abs() / largest;
                assert!(error < 5e-3, "layer {t}, weight {e}: {slope}, {error}");
            }
        }
    }

    /// Fails at one step, as if the power had gone.
    struct Crash(Synthetic, usize);

    impl Task for Crash {
        fn sizes(&self) -> Vec<(usize, usize)> {
            self.0.sizes()
        }

        fn batch(&self, step: usize) -> Result<Batch, Box<dyn Error>> {
            if step == self.1 {
                return Err("crash".into());
            }
            self.0.batch(step)
        }

        fn loss(&mut self, l: Tensor<3>, batch: &Batch) -> Result<Tensor<1>, Box<dyn Error>> {
            self.0.loss(l, batch)
        }

        fn score(&self, layers: &[Layer]) -> Result<f64, Box<dyn Error>> {
            self.0.score(layers)
        }

        fn memory(&mut self) -> &mut Vec<f64> {
            self.0.memory()
        }
    }

    #[test]
    fn a_resumed_run_equals_one_that_never_stopped() {
        let device = Device::flex();
        let new = || task(&device.clone().autodiff());
        let (whole, parts) = (folder("whole"), folder("parts"));
        let straight = run(&config(20), &mut new(), &whole, &device).unwrap();
        assert!(run(&config(20), &mut Crash(new(), 12), &parts, &device).is_err());
        let resumed = run(&config(20), &mut new(), &parts, &device).unwrap();
        assert_eq!(resumed.losses, straight.losses);
        assert_eq!(resumed.scores, straight.scores);
        assert_eq!(resumed.layers, straight.layers);
        let _ = std::fs::remove_dir_all(whole);
        let _ = std::fs::remove_dir_all(parts);
    }

    #[test]
    fn training_improves_and_another_runs_checkpoint_is_refused() {
        let device = Device::flex();
        let place = folder("improves");
        let outcome = run(
            &config(40),
            &mut task(&device.clone().autodiff()),
            &place,
            &device,
        )
        .unwrap();
        let before = outcome.scores[0].1;
        assert!(outcome.score < 0.95 * before, "{} {before}", outcome.score);
        let other = Config {
            identity: "other".into(),
            ..config(40)
        };
        let error = run(
            &other,
            &mut task(&device.clone().autodiff()),
            &place,
            &device,
        );
        assert!(error.unwrap_err().to_string().contains("other options"));
        let _ = std::fs::remove_dir_all(place);
    }
}
