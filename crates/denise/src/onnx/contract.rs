//! Products of matrices: layers, and L = UUᵀ.

use super::arrange::{broadcast, common_shape};
use super::budget::Budget;
use super::error::Refused;
use super::stages::Stages;
use super::value::{Elements, Factor, Pick, Value};
use crate::memory::{collected, copied, filled, push};
use crate::status::Error;
use std::rc::Rc;

/// Sums of products: output number o is the sum over t of a[a_at[o] + t·a_step] · b[b_at[o] + t·b_step].
pub(super) struct Contraction {
    shape: Vec<usize>,
    terms: usize,
    a_at: Vec<usize>,
    a_step: usize,
    b_at: Vec<usize>,
    b_step: usize,
}

impl Contraction {
    /// As `MatMul` does it: matrices in the last two axes, broadcast over the others.
    pub(super) fn matmul(a: &Value, b: &Value, budget: &Budget) -> Result<Contraction, Refused> {
        let (Some(&inner), Some(_)) = (a.shape.last(), b.shape.first()) else {
            return Err(Refused::damaged("a product needs at least one axis"));
        };
        // A vector is a row on the left and a column on the right.
        let left = if let [len] = a.shape[..] {
            copied(&[1, len])?
        } else {
            copied(&a.shape)?
        };
        let right = if let [len] = b.shape[..] {
            copied(&[len, 1])?
        } else {
            copied(&b.shape)?
        };
        let (a_outer, &[rows, _]) = left.split_last_chunk().ok_or_else(no_matrix)?;
        let (b_outer, &[b_inner, columns]) = right.split_last_chunk().ok_or_else(no_matrix)?;
        if inner != b_inner {
            return Err(Refused::damaged(
                "the shapes of the factors do not fit each other",
            ));
        }
        let outer = common_shape(a_outer, b_outer)?;
        let mut shape = copied(&outer)?;
        push(&mut shape, rows)?;
        push(&mut shape, columns)?;
        let sums = budget.count(&shape)?;
        budget.allows_products(sums, inner)?;
        // Which matrix of a and of b each matrix of the result comes from.
        let matrices = |outer_shape: &[usize]| {
            let count = outer_shape.iter().product();
            broadcast(&Value::ints(outer_shape, filled(count, 0)?)?, &outer)
        };
        let (a_matrix, b_matrix) = (matrices(a_outer)?, matrices(b_outer)?);
        let (mut a_at, mut b_at) = (Vec::new(), Vec::new());
        a_at.try_reserve_exact(sums).map_err(Error::from)?;
        b_at.try_reserve_exact(sums).map_err(Error::from)?;
        for (&a_matrix, &b_matrix) in a_matrix.iter().zip(&b_matrix) {
            for i in 0..rows {
                for j in 0..columns {
                    a_at.push((a_matrix * rows + i) * inner);
                    b_at.push(b_matrix * inner * columns + j);
                }
            }
        }
        // The axes that were added are taken off again.
        if b.shape.len() == 1 {
            shape.pop();
        }
        if a.shape.len() == 1 {
            shape.remove(outer.len());
        }
        Ok(Contraction {
            shape,
            terms: inner,
            a_at,
            a_step: 1,
            b_at,
            b_step: columns,
        })
    }

    /// As `Gemm` does it: two matrices, each transposed or not.
    pub(super) fn gemm(
        a: &Value,
        b: &Value,
        (a_transposed, b_transposed): (bool, bool),
        budget: &Budget,
    ) -> Result<Contraction, Refused> {
        let (&[a_rows, a_columns], &[b_rows, b_columns]) = (&a.shape[..], &b.shape[..]) else {
            return Err(Refused::damaged("the factors must be matrices"));
        };
        let (rows, inner) = if a_transposed {
            (a_columns, a_rows)
        } else {
            (a_rows, a_columns)
        };
        let (b_inner, columns) = if b_transposed {
            (b_columns, b_rows)
        } else {
            (b_rows, b_columns)
        };
        if inner != b_inner {
            return Err(Refused::damaged(
                "the shapes of the factors do not fit each other",
            ));
        }
        let shape = copied(&[rows, columns])?;
        budget.allows_products(budget.count(&shape)?, inner)?;
        let (a_row, a_step) = if a_transposed { (1, rows) } else { (inner, 1) };
        let (b_column, b_step) = if b_transposed {
            (inner, 1)
        } else {
            (1, columns)
        };
        let each = |f: &dyn Fn(usize, usize) -> usize| {
            collected((0..rows).flat_map(|i| (0..columns).map(move |j| f(i, j))))
        };
        Ok(Contraction {
            shape,
            terms: inner,
            a_at: each(&|i, _| i * a_row)?,
            a_step,
            b_at: each(&|_, j| j * b_column)?,
            b_step,
        })
    }

    /// Carries it out for an n of the matrices M.
    pub(super) fn apply(
        &self,
        a: &Value,
        b: &Value,
        n: usize,
        stages: &mut Stages,
        budget: &mut Budget,
    ) -> Result<Value, Refused> {
        match (&a.elements, &b.elements) {
            (&Elements::Picks { stage, ref picks }, Elements::Known(_)) => {
                let x = (stage, &picks[..], &self.a_at[..], self.a_step);
                self.layer(x, (b.as_floats()?, &self.b_at, self.b_step), stages, budget)
            }
            (Elements::Known(_), &Elements::Picks { stage, ref picks }) => {
                let x = (stage, &picks[..], &self.b_at[..], self.b_step);
                self.layer(x, (a.as_floats()?, &self.a_at, self.a_step), stages, budget)
            }
            (
                Elements::Picks { stage, picks },
                Elements::Picks {
                    stage: other,
                    picks: across,
                },
            ) if stage == other => {
                let u = self
                    .factor(*stage, picks, across, n)?
                    .ok_or_else(only_low)?;
                let count = u32::try_from(n * n).map_err(|_| only_low())?;
                Ok(Value {
                    shape: copied(&self.shape)?,
                    elements: Elements::Low {
                        u: Rc::new(u),
                        entries: collected(0..count)?,
                    },
                })
            }
            (Elements::Known(_), Elements::Known(_)) => Err(Refused::unsupported(
                "a product of constants is not supported",
            )),
            _ => Err(only_low()),
        }
    }

    /// Carries it out on numbers.
    pub(super) fn numbers(&self, a: &[f32], b: &[f32]) -> Result<Value, Error> {
        let sum = |(&a_at, &b_at): (&usize, &usize)| {
            let a = a[a_at..].iter().step_by(self.a_step);
            let b = b[b_at..].iter().step_by(self.b_step);
            a.zip(b).take(self.terms).map(|(a, b)| a * b).sum()
        };
        let sums = collected(self.a_at.iter().zip(&self.b_at).map(sum))?;
        Value::floats(&self.shape, sums)
    }

    /// A layer: one factor is known.
    fn layer(
        &self,
        (stage, picks, pick_at, pick_step): (usize, &[Pick], &[usize], usize),
        (known, known_at, known_step): (&[f32], &[usize], usize),
        stages: &mut Stages,
        budget: &mut Budget,
    ) -> Result<Value, Refused> {
        let (inputs, outputs) = (stages.width(stage), pick_at.len());
        budget.take_weights(inputs, outputs)?;
        let mut weights = filled(inputs * outputs, 0.0)?;
        let mut bias = filled(outputs, 0.0)?;
        for t in 0..self.terms {
            for (j, (at, known_at)) in pick_at.iter().zip(known_at).enumerate() {
                let pick = picks[at + t * pick_step];
                let w = known[known_at + t * known_step];
                // An entry of M may be picked twice, as M_ij and M_ji.
                weights[pick.index as usize * outputs + j] += pick.scale * w;
                bias[j] += pick.offset * w;
            }
        }
        let stage = stages.linear(stage, weights, bias)?;
        Ok(Value::picks(&self.shape, stage, Pick::all(outputs)?)?)
    }

    /// U, if this is U times its transpose.
    fn factor(
        &self,
        stage: usize,
        a: &[Pick],
        b: &[Pick],
        n: usize,
    ) -> Result<Option<Factor>, Error> {
        if self.a_at.len() != n * n || self.shape.iter().filter(|&&size| size != 1).ne(&[n, n]) {
            return Ok(None);
        }
        let at = |o: usize, t: usize| {
            let (a_at, b_at) = (self.a_at[o], self.b_at[o]);
            (a[a_at + t * self.a_step], b[b_at + t * self.b_step])
        };
        let k = self.terms;
        let each = (0..n).flat_map(|i| (0..k).map(move |t| (i, t)));
        let picks = collected(each.map(|(i, t)| at(i * n, t).0))?;
        let row = |i: usize| &picks[i * k..(i + 1) * k];
        for i in 0..n {
            for j in 0..n {
                let mut pairs = row(i).iter().zip(row(j)).enumerate();
                if !pairs.all(|(t, (&ui, &uj))| at(i * n + j, t) == (ui, uj)) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(Factor { k, stage, picks }))
    }
}

fn no_matrix() -> Refused {
    Refused::damaged("a factor has too few axes")
}

fn only_low() -> Refused {
    Refused::unsupported(
        "of two values that depend on M only L = U times its transpose is supported",
    )
}
