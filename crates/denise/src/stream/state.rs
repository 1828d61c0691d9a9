//! A stream as bytes that any machine reads, in little-endian order:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `denise`, then 0 and the version of this layout |
//! | 8 | a number that tells networks apart |
//! | 4 each | n, k, streams, window, warm-up, flags (1: means are subtracted) |
//! | 8 | half-life |
//! | for each stream | see [`Group::save`] |
//! | 8 | a checksum of all that comes before it |
//!
//! The state of one stream among many is laid out like that of a single stream, so it may go on alone, or elsewhere.

use super::bytes::{Reader, Writer};
use super::estimate::Estimate;
use super::{Group, Stream};
use crate::checksum::checksum;
use crate::status::{Error, Status};

const MAGIC: [u8; 8] = *b"denise\0\x01";
const HEADER: usize = 48;
const CHECKSUM: usize = 8;

impl Stream {
    /// Bytes that [`Stream::save`] writes.
    pub fn state_size(&self) -> usize {
        HEADER + self.streams() * self.size_of_one() + CHECKSUM
    }

    /// Bytes that [`Stream::save_one`] writes.
    pub fn state_size_one(&self) -> usize {
        HEADER + self.size_of_one() + CHECKSUM
    }

    fn size_of_one(&self) -> usize {
        self.groups.first().map_or(0, Group::state_size)
    }

    /// Writes everything that the streams know to the first [`Stream::state_size`] bytes of `state`. Who restores it
    /// goes on with the same bits.
    pub fn save(&self, state: &mut [u8]) -> Result<(), Error> {
        let state = room(state, self.state_size())?;
        let mut writer = self.header(state, self.streams());
        for group in &self.groups {
            for l in 0..group.count {
                group.save(l, &mut writer);
            }
        }
        seal(state);
        Ok(())
    }

    /// The same for one stream.
    pub fn save_one(&self, stream: usize, state: &mut [u8]) -> Result<(), Error> {
        let (group, l) = self.find(stream)?;
        let state = room(state, self.state_size_one())?;
        let mut writer = self.header(state, 1);
        self.groups[group].save(l, &mut writer);
        seal(state);
        Ok(())
    }

    /// Goes on where [`Stream::save`] was called, on streams made with the same options by the same network. An error
    /// changes nothing: [`Status::Format`] if the bytes are damaged, [`Status::Shape`] or [`Status::Argument`] if they
    /// are of other streams.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        let streams = self.streams();
        let mut reader = self.check(state, streams)?;
        for group in &mut self.groups {
            for l in 0..group.count {
                group.restore(l, &mut reader);
            }
        }
        Ok(())
    }

    /// The same for one stream, from a state of one.
    pub fn restore_one(&mut self, stream: usize, state: &[u8]) -> Result<(), Error> {
        let (group, l) = self.find(stream)?;
        let mut reader = self.check(state, 1)?;
        self.groups[group].restore(l, &mut reader);
        Ok(())
    }

    /// Writes what comes before the streams.
    fn header<'a>(&self, state: &'a mut [u8], streams: usize) -> Writer<'a> {
        let mut writer = Writer(state);
        writer.bytes(&MAGIC);
        for word in self.words(streams) {
            writer.bytes(&word.to_le_bytes());
        }
        writer
    }

    /// The header after its first bytes.
    fn words(&self, streams: usize) -> [u64; 5] {
        let settled = &self.settled;
        let pair = |low: usize, high: usize| low as u64 | (high as u64) << 32;
        [
            self.follower.fingerprint(),
            pair(settled.plan.n, settled.k),
            pair(streams, settled.window),
            pair(
                settled.plan.warm_up as usize,
                usize::from(settled.plan.demean),
            ),
            settled.half_life.to_bits(),
        ]
    }

    /// That a state is whole, and fits; what comes after its header.
    fn check<'a>(&self, state: &'a [u8], streams: usize) -> Result<Reader<'a>, Error> {
        let damaged = || {
            let message = "the state is damaged, or is not one that this version of denise saved";
            Error::new(Status::Format, message)
        };
        let body = state.len().checked_sub(CHECKSUM).ok_or_else(damaged)?;
        let (body, sum) = state.split_at(body);
        let mut sum = Reader(sum);
        if body.len() < HEADER || body[..8] != MAGIC || sum.word() != checksum(body.iter().copied())
        {
            return Err(damaged());
        }
        let mut reader = Reader(&body[8..]);
        let [model, sizes, streams_window, warm_up, half_life] = self.words(streams);
        let found: [u64; 5] = core::array::from_fn(|_| reader.word());
        let low = |word: u64| word & 0xffff_ffff;
        if found[1] != sizes || low(found[2]) != low(streams_window) {
            let message =
                "the state is of streams with another n or k, or of more or fewer of them";
            return Err(Error::new(Status::Shape, message));
        }
        if [found[2], found[3], found[4]] != [streams_window, warm_up, half_life] {
            let message =
                "the state is of a stream with another window, half-life, warm-up or flags";
            return Err(Error::new(Status::Argument, message));
        }
        if found[0] != model {
            let message = "the state is of a stream of another network, or of one with other flags";
            return Err(Error::new(Status::Argument, message));
        }
        let size = self.size_of_one();
        if reader.0.len() != streams * size {
            return Err(damaged());
        }
        for one in reader.0.chunks_exact(size) {
            let sound = self.groups.first().is_some_and(|group| group.sound(one));
            if !sound {
                return Err(damaged());
            }
        }
        Ok(reader)
    }
}

/// The bytes that are written.
fn room(state: &mut [u8], size: usize) -> Result<&mut [u8], Error> {
    state.get_mut(..size).ok_or_else(|| {
        let message = "the buffer is too short for the state";
        Error::new(Status::Shape, message)
    })
}

/// Writes the checksum to the last bytes.
fn seal(state: &mut [u8]) {
    let (body, end) = state.split_at_mut(state.len() - CHECKSUM);
    end.copy_from_slice(&checksum(body.iter().copied()).to_le_bytes());
}

impl Group {
    /// Bytes of one stream.
    fn state_size(&self) -> usize {
        (2 + self.u.len() / self.width + Estimate::state_len(&self.estimate)) * 8
    }

    /// Splits so far, the last layer's mean, U, and the estimate: 8 bytes each.
    fn save(&self, l: usize, to: &mut Writer<'_>) {
        to.word(self.splits[l]);
        to.number(self.mean[l]);
        for x in self.u.iter().skip(l).step_by(self.width) {
            to.number(*x);
        }
        self.estimate.save(l, to);
    }

    fn restore(&mut self, l: usize, from: &mut Reader<'_>) {
        self.splits[l] = from.word();
        self.mean[l] = from.number();
        for x in self.u.iter_mut().skip(l).step_by(self.width) {
            *x = from.number();
        }
        self.estimate.restore(l, from);
    }

    /// Whether numbers are what a stream can have.
    fn sound(&self, one: &[u8]) -> bool {
        let mut reader = Reader(one);
        reader.word();
        let mean = reader.number();
        let mut sound = mean.is_finite() && mean >= 0.0;
        for _ in 0..self.u.len() / self.width {
            sound &= reader.number().is_finite();
        }
        sound && self.estimate.sound(&mut reader)
    }
}
