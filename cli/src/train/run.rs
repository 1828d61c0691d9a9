//! The loop: a batch, a gradient, a step; now and then a validation, a line in the log, a checkpoint.

use super::adam::{clip, rate};
use super::batch::Batch;
use super::checkpoint::Checkpoint;
use super::learner::{Learner, Result};
use burn::tensor::Tensor;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::path::Path;

/// Makes the network for matrices of size n and rank k.
pub type Make<'a> = &'a dyn Fn(usize, usize) -> Result<denise::Model>;

/// What is trained for.
pub trait Task {
    /// The sizes n and ranks k of its matrices.
    fn sizes(&self) -> Vec<(usize, usize)>;
    /// The matrices of a step, the same ones whenever asked.
    fn batch(&self, step: usize) -> Result<Batch>;
    /// The loss of a batch for which the network gave L̂.
    fn loss(&mut self, l: Tensor<3>, batch: &Batch) -> Result<Tensor<1>>;
    /// How good a network is on matrices that are not trained on: smaller is better.
    fn score(&self, make: Make<'_>) -> Result<f64>;
    /// Numbers that the loss remembers from one batch to the next.
    fn memory(&mut self) -> &mut Vec<f64>;
}

/// What the loop needs of a task and of what learns it.
pub trait Course {
    /// The loss of a step and its gradient by the learner's free numbers.
    fn slope(&mut self, free: &[f64], step: usize) -> Result<(f64, Vec<f64>)>;
    /// See [`Task::score`].
    fn score(&self, make: Make<'_>) -> Result<f64>;
    /// Numbers that are remembered from one step to the next.
    fn memory(&mut self) -> &mut Vec<f64>;
}

/// A learner and a task whose steps are batches.
struct Batched<'a, T> {
    learner: &'a dyn Learner,
    task: &'a mut T,
}

impl<T: Task> Course for Batched<'_, T> {
    fn slope(&mut self, free: &[f64], step: usize) -> Result<(f64, Vec<f64>)> {
        let batch = self.task.batch(step)?;
        let mut loss = |l| self.task.loss(l, &batch);
        self.learner.gradient(free, &batch, &mut loss)
    }

    fn score(&self, make: Make<'_>) -> Result<f64> {
        self.task.score(make)
    }

    fn memory(&mut self) -> &mut Vec<f64> {
        self.task.memory()
    }
}

/// How it is trained.
#[derive(Clone, Debug)]
pub struct Config {
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
    /// The learner's numbers.
    pub free: Vec<f64>,
    /// Its validation score, and the step at which it had it.
    pub score: f64,
    /// See `score`.
    pub step: usize,
    /// Steps and losses.
    pub losses: Vec<(f64, f64)>,
    /// Steps and validation scores.
    pub scores: Vec<(f64, f64)>,
}

/// Trains batch by batch: see [`run_course`].
pub fn run(
    config: &Config,
    learner: &dyn Learner,
    task: &mut impl Task,
    folder: &Path,
) -> Result<Outcome> {
    run_course(config, learner, &mut Batched { learner, task }, folder)
}

/// Trains; keeps a checkpoint and a log in `folder`, and goes on from a checkpoint that is there.
pub fn run_course(
    config: &Config,
    learner: &dyn Learner,
    course: &mut impl Course,
    folder: &Path,
) -> Result<Outcome> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let file = folder.join("checkpoint");
    let mut state = match Checkpoint::load(&file).map_err(|e| format!("{}: {e}", file.display()))? {
        Some(state) if state.config == config.identity => {
            course.memory().clone_from(&state.memory);
            state
        }
        Some(_) => {
            let name = file.display();
            return Err(format!(
                "{name} belongs to a run with other options: remove it, or choose another --out"
            )
            .into());
        }
        None => {
            let mut state = Checkpoint::new(&config.identity, learner.initial());
            // What training has to beat.
            validate(learner, &mut state, course)?;
            state
        }
    };
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
        let (loss, mut gradient) = course.slope(&state.free, state.step)?;
        let norm = clip(&mut gradient, config.clip);
        if !norm.is_finite() || !loss.is_finite() {
            let (step, name) = (state.step, file.display());
            return Err(format!(
                "loss or gradient of step {step} is not finite; the last good weights are in {name}. \
                 A smaller --rate may help; please report it, this should not happen"
            )
            .into());
        }
        let now = rate(config.rate, state.step, config.steps);
        state.adam.step(now, &gradient, &mut state.free);
        learner.confine(&mut state.free);
        state.step += 1;
        state.losses.push((state.step as f64, loss));
        bar.set_position(state.step as u64);
        if state.step % config.every == 0 || state.step == config.steps {
            validate(learner, &mut state, course)?;
            let score = state.scores[state.scores.len() - 1].1;
            // Of all steps since the last time: those on other sizes have other losses.
            let recent = &state.losses[state.losses.len().saturating_sub(config.every)..];
            let loss = recent.iter().map(|x| x.1).sum::<f64>() / recent.len() as f64;
            bar.set_message(format!("loss {loss:.4}, validation {score:.6}"));
            let line = serde_json::json!({
                "step": state.step, "loss": loss, "validation": score, "rate": now, "gradient": norm,
            });
            writeln!(log, "{line}")?;
            state.memory.clone_from(course.memory());
            state.save(&file)?;
        }
    }
    bar.finish_and_clear();
    let last = match (config.keep, state.scores.last()) {
        (Keep::Last, Some(&(_, score))) => Some(score),
        _ => None,
    };
    let (score, free, step) = match last {
        Some(score) => (score, state.free, state.step),
        None => (state.best_score, state.best, state.best_step),
    };
    Ok(Outcome {
        free,
        score,
        step,
        losses: state.losses,
        scores: state.scores,
    })
}

fn exhausted(config: &Config, state: &Checkpoint) -> bool {
    state.step >= state.best_step + config.patience * config.every
}

fn validate(learner: &dyn Learner, state: &mut Checkpoint, course: &impl Course) -> Result<()> {
    let score = course.score(&|n, k| learner.model(&state.free, n, k))?;
    state.scores.push((state.step as f64, score));
    if score < state.best_score {
        state.best_score = score;
        state.best_step = state.step;
        state.best.clone_from(&state.free);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Loss, Matrices, Synthetic, Unrolled, initial, taking_back};
    use super::*;
    use crate::train::{Dense, random};
    use burn::tensor::Device;
    use denise::dense::Activation;
    use denise::unrolled::Stages;
    use denise_data::generator::{Cell, Kind, Pairs};

    fn task(device: &Device) -> Synthetic {
        task_for(Loss::Supervised, device)
    }

    fn task_for(loss: Loss, device: &Device) -> Synthetic {
        let kind = |sparsity| {
            Kind::from(Cell {
                sparsity,
                pairs: Pairs::Uniform,
                ..Cell::default()
            })
        };
        let size = |n, kinds| Matrices { n, k: 2, kinds };
        let sizes = vec![
            size(8, vec![kind(0.7), kind(0.9)]),
            size(6, vec![kind(0.9)]),
        ];
        Synthetic::new(sizes, loss, Some(16), 20, 3, device)
    }

    fn config(steps: usize) -> Config {
        Config {
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

        fn batch(&self, step: usize) -> Result<Batch> {
            self.0.batch(step)
        }

        fn loss(&mut self, l: Tensor<3>, batch: &Batch) -> Result<Tensor<1>> {
            let wrong = l - batch.l.clone().ok_or("no truth")?;
            Ok((wrong.clone() * wrong).mean())
        }

        fn score(&self, make: Make<'_>) -> Result<f64> {
            self.0.score(make)
        }

        fn memory(&mut self) -> &mut Vec<f64> {
            self.0.memory()
        }
    }

    fn learner(device: &Device) -> Unrolled {
        let layers = taking_back(initial(4, 2));
        Unrolled::new(Stages::only(&layers), &[(8, 2), (6, 2)], device)
    }

    fn check_gradient(
        learner: &dyn Learner,
        task: &mut impl Task,
        step: usize,
        places: &[usize],
        h: f64,
    ) {
        let numbers = learner.initial();
        let batch = task.batch(step).unwrap();
        let mut at = |numbers: &[f64]| {
            let mut loss = |l| task.loss(l, &batch);
            learner.gradient(numbers, &batch, &mut loss).unwrap()
        };
        let (_, exact) = at(&numbers);
        let largest = exact.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for &place in places {
            let (mut up, mut down) = (numbers.clone(), numbers.clone());
            up[place] += h;
            down[place] -= h;
            let slope = (at(&up).0 - at(&down).0) / (2.0 * h);
            let error = (slope - exact[place]).abs() / largest;
            assert!(error < 5e-3, "number {place}: {slope}, {error}");
        }
    }

    #[test]
    fn gradients_of_dense_layers_match_finite_differences() {
        let device = Device::flex();
        let mut task = Smooth(task(&device.clone().autodiff()));
        let mut start = random(8, 2, &[36, 20, 12, 9, 18, 16], 1);
        let activations = [
            Activation::Relu,
            Activation::Tanh,
            Activation::Elu(0.7),
            Activation::Sigmoid,
            Activation::LeakyRelu(0.1),
        ];
        for (layer, activation) in start.layers.iter_mut().zip(activations) {
            layer.activation = activation;
        }
        // At full size, for gradients far above the roundings of the loss.
        start.layers[4].weights.iter_mut().for_each(|x| *x *= 10.0);
        let dense = Dense::new(start, &device);
        // Some weights of each layer, and some of each bias.
        let places: Vec<usize> = (0..dense.initial().len()).step_by(37).collect();
        // Small, since ReLU has a corner.
        check_gradient(&dense, &mut task, 0, &places, 3e-3);
    }

    /// Both losses of the paper fall when they are trained for, on matrices that are not trained on.
    #[test]
    fn supervised_and_unsupervised_losses_decrease() {
        let device = Device::flex();
        let mut start = initial(4, 2);
        start.iter_mut().for_each(|layer| layer.eta = 0.1);
        let learner = Unrolled::new(Stages::only(&start), &[(8, 2), (6, 2)], &device);
        for loss in [Loss::Supervised, Loss::Unsupervised] {
            let mut task = task_for(loss, &device.clone().autodiff());
            let place = folder(&format!("phi-{loss:?}"));
            let outcome = run(&config(40), &learner, &mut task, &place).unwrap();
            let _ = std::fs::remove_dir_all(place);
            // Far beyond the steps above, so never seen; the first size.
            let batch = task.batch(4000).unwrap();
            let mut phi = |l: Tensor<3>| -> Result<Tensor<1>> {
                let target = match loss {
                    Loss::Supervised => batch.l.clone().ok_or("no truth")?,
                    Loss::Unsupervised => batch.m.clone(),
                };
                Ok((l - target).abs().mean())
            };
            let before = learner
                .gradient(&learner.initial(), &batch, &mut phi)
                .unwrap()
                .0;
            let after = learner.gradient(&outcome.free, &batch, &mut phi).unwrap().0;
            assert!(after < 0.9 * before, "{loss:?}: {before} {after}");
        }
    }

    /// Fails at one step, as if the power had gone.
    struct Crash(Synthetic, usize);

    impl Task for Crash {
        fn sizes(&self) -> Vec<(usize, usize)> {
            self.0.sizes()
        }

        fn batch(&self, step: usize) -> Result<Batch> {
            if step == self.1 {
                return Err("crash".into());
            }
            self.0.batch(step)
        }

        fn loss(&mut self, l: Tensor<3>, batch: &Batch) -> Result<Tensor<1>> {
            self.0.loss(l, batch)
        }

        fn score(&self, make: Make<'_>) -> Result<f64> {
            self.0.score(make)
        }

        fn memory(&mut self) -> &mut Vec<f64> {
            self.0.memory()
        }
    }

    #[test]
    fn a_resumed_run_equals_one_that_never_stopped() {
        let device = Device::flex();
        let learner = learner(&device);
        let new = || task(&device.clone().autodiff());
        let (whole, parts) = (folder("whole"), folder("parts"));
        let straight = run(&config(20), &learner, &mut new(), &whole).unwrap();
        assert!(run(&config(20), &learner, &mut Crash(new(), 12), &parts).is_err());
        let resumed = run(&config(20), &learner, &mut new(), &parts).unwrap();
        assert_eq!(resumed.losses, straight.losses);
        assert_eq!(resumed.scores, straight.scores);
        assert_eq!(resumed.free, straight.free);
        let _ = std::fs::remove_dir_all(whole);
        let _ = std::fs::remove_dir_all(parts);
    }

    #[test]
    fn training_improves_and_another_runs_checkpoint_is_refused() {
        let device = Device::flex();
        let place = folder("improves");
        // From steps that are far too short.
        let mut start = initial(4, 2);
        start.iter_mut().for_each(|layer| layer.eta = 0.1);
        let learner = Unrolled::new(Stages::only(&start), &[(8, 2), (6, 2)], &device);
        let mut task = task(&device.clone().autodiff());
        let outcome = run(&config(40), &learner, &mut task, &place).unwrap();
        let before = outcome.scores[0].1;
        assert!(outcome.score < 0.95 * before, "{} {before}", outcome.score);
        let other = Config {
            identity: "other".into(),
            ..config(40)
        };
        let error = run(&other, &learner, &mut task, &place);
        assert!(error.unwrap_err().to_string().contains("other options"));
        let _ = std::fs::remove_dir_all(place);
    }
}
