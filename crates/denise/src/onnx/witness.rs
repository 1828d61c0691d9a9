//! What tract makes of the same file.

use super::error::{Refused, Shown};
use super::lower::Input;
use crate::memory::{all_collected, copied, owned};
use crate::status::{Error, Status, text};
use crate::thread::without_signals;
use tract_core::prelude::*;
use tract_onnx::prelude::{Framework, InferenceFact, InferenceModelExt};

/// Ample for graphs of the size that gets here; the caller's own stack may be small.
const STACK: usize = 16 << 20;

/// The named values of the graph for each matrix.
///
/// tract runs on a thread of its own that ends here: it keeps memory for each thread that it has run on, and
/// frees it when the thread ends, which must not happen to a thread of the host.
pub(super) fn values(
    bytes: &[u8],
    input: &Input,
    names: &[&str],
    matrices: &[Vec<f32>],
) -> Result<Vec<Vec<Vec<f32>>>, Refused> {
    // Copies, not a scoped thread: that would leave a mark in the thread-local memory of the caller's thread.
    let (file, input) = (copied(bytes)?, input.copy()?);
    let matrices = all_collected::<_, Error>(matrices.iter().map(|m| copied(m)))?;
    let names = all_collected::<_, Error>(names.iter().map(|name| owned(name)))?;
    let builder = std::thread::Builder::new()
        .name("denise-load".to_owned())
        .stack_size(STACK);
    let check = move || {
        room_for_tract(file.len())?;
        Ok(run(&file, &input, &names, &matrices))
    };
    let thread = without_signals(|| builder.spawn(check))
        .map_err(|_| Error::new(Status::Memory, "no thread can be started to check the file"))?;
    match thread.join() {
        Ok(Err(error)) => Err(Error::into(error)),
        Ok(Ok(values)) => values.map_err(|error| {
            let reason = Shown {
                text: &text(format_args!("{error:#}")),
                most: 400,
            };
            Refused::unsupported(text(format_args!("tract cannot run the file: {reason}")))
        }),
        Err(_) => Err(Error::new(
            Status::Internal,
            "tract failed on the file; please report it",
        )
        .into()),
    }
}

/// tract ends the process when it gets no memory. So memory for a file of this length is asked for, and given back,
/// before tract starts: a host that is short of it gets an error instead, unless it becomes short of it meanwhile.
fn room_for_tract(len: usize) -> Result<(), Error> {
    const FLOOR: usize = 6 << 20;
    const SHARE: usize = 4;
    let most = len.saturating_mul(SHARE).saturating_add(FLOOR);
    let mut room: Vec<u8> = Vec::new();
    room.try_reserve_exact(most)?;
    // Else the compiler, which may leave out memory that nobody uses, does so.
    core::hint::black_box(room.as_mut_ptr());
    Ok(())
}

fn run(
    bytes: &[u8],
    input: &Input,
    names: &[String],
    matrices: &[Vec<f32>],
) -> TractResult<Vec<Vec<Vec<f32>>>> {
    // Shapes inside of the graph follow from the input's, and what a file says about them may be wrong.
    let mut model = tract_onnx::onnx()
        .with_ignore_value_info(true)
        .model_for_read(&mut &*bytes)?;
    model.set_input_fact(0, InferenceFact::dt_shape(f32::datum_type(), &input.shape))?;
    let outlets = names
        .iter()
        .map(|name| {
            model
                .find_outlet_label(name)
                .ok_or_else(|| TractError::msg(format!("there is no value {name}")))
        })
        .collect::<TractResult<Vec<OutletId>>>()?;
    model.select_output_outlets(&outlets)?;
    let plan = model.into_optimized()?.into_runnable()?;
    let mut all = Vec::new();
    for m in matrices {
        let m = input.of(m)?;
        let tensor = Tensor::from_shape(&input.shape, &m)?;
        let found = plan.run(tvec!(tensor.into()))?;
        let floats = found.iter().map(|value| {
            let value = value.cast_to::<f32>()?;
            Ok(value.try_as_plain_ram()?.as_slice::<f32>()?.to_vec())
        });
        all.push(floats.collect::<TractResult<Vec<Vec<f32>>>>()?);
    }
    Ok(all)
}
