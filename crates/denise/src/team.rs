//! Threads that share one small piece of work after another within a call.
//!
//! Waking a thread takes as long as a layer of a network. So the helpers of a pool are woken once a call, and from
//! then on watch for jobs until the call is over. The thread that leads them works too, and waits only for what a
//! helper has in hand: one that sleeps, is busy elsewhere, or did not survive a `fork` is not missed.
//!
//! Calls often come one after the other. So a helper watches for a moment longer, and only then goes to sleep.

use core::marker::PhantomData;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a thread looks before it lets others run: some ten microseconds.
const SPINS: u32 = 2000;
/// How often it lets others run before it sleeps.
const YIELDS: u32 = 500;
/// How long it then sleeps at a time.
const NAP: Duration = Duration::from_micros(50);
/// How long a helper watches for the next call: about as long as it would take to wake it.
const LINGER: Duration = Duration::from_micros(50);

/// Where a leader puts jobs and helpers find them. It outlives every call, so that no leader has to wait until the
/// last helper has turned away from it.
pub(crate) struct Board {
    /// Whether somebody leads.
    open: AtomicBool,
    /// How many jobs there have been: a change tells helpers to look.
    jobs: AtomicUsize,
    /// What there is to do. On the stack of the leader, who takes it away and waits for `holders` before it goes.
    job: AtomicPtr<Job<'static>>,
    /// Helpers that may have the job.
    holders: AtomicUsize,
    /// A helper has panicked at the job.
    panicked: AtomicBool,
}

/// Something that any number of threads can do at once until nothing is left of it, told who does it. Behind one more
/// pointer, because an atomic one has room for an address only.
struct Job<'a>(&'a (dyn Fn(Who) + Sync));

/// Who works.
#[derive(Clone, Copy, PartialEq)]
enum Who {
    Leader,
    Helper,
}

impl Board {
    pub(crate) fn new() -> Board {
        Board {
            open: AtomicBool::new(false),
            jobs: AtomicUsize::new(0),
            job: AtomicPtr::new(null_mut()),
            holders: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
        }
    }

    /// Somebody leads from now on; nobody else may until it is closed.
    pub(crate) fn open(&self) {
        self.open.store(true, Release);
    }

    /// The call is over: helpers go.
    pub(crate) fn close(&self) {
        self.open.store(false, Release);
    }

    /// What a helper does while somebody leads, and for a moment after that.
    pub(crate) fn follow(&self) {
        let (mut seen, mut looks) = (0, 0);
        loop {
            while self.open.load(Acquire) {
                let jobs = self.jobs.load(Acquire);
                if jobs == seen {
                    pause(&mut looks);
                } else {
                    (seen, looks) = (jobs, 0);
                    self.help();
                }
            }
            // Without letting others run, who would keep the processor for longer than this takes.
            let end = Instant::now() + LINGER;
            while !self.open.load(Acquire) {
                if Instant::now() >= end {
                    return;
                }
                core::hint::spin_loop();
            }
            looks = 0;
        }
    }

    /// Takes part in the job, if it is still there.
    fn help(&self) {
        // First say so, then look; the leader first takes it away, then looks whether somebody has said so. In the
        // one order of these four, either the leader finds this helper, or the helper finds no job.
        self.holders.fetch_add(1, SeqCst);
        let job = self.job.load(SeqCst);
        if !job.is_null() {
            // SAFETY: the leader put it there and keeps it until it has seen that nobody holds it.
            let Job(work) = unsafe { &*job };
            if catch_unwind(AssertUnwindSafe(|| work(Who::Helper))).is_err() {
                self.panicked.store(true, Relaxed);
            }
        }
        self.holders.fetch_sub(1, Release);
    }

    /// Does `work` together with the helpers that are there; when it returns, nobody has it any more.
    fn lead(&self, work: &(dyn Fn(Who) + Sync)) {
        let job = Job(work);
        self.job.store((&raw const job).cast_mut().cast(), SeqCst);
        self.jobs.fetch_add(1, Release);
        // Even if this thread panics, no helper may be left with something of its stack.
        let own = catch_unwind(AssertUnwindSafe(|| work(Who::Leader)));
        self.job.store(null_mut(), SeqCst);
        let mut looks = 0;
        while self.holders.load(SeqCst) != 0 {
            pause(&mut looks);
        }
        let panicked = self.panicked.swap(false, Relaxed);
        if let Err(panic) = own {
            resume_unwind(panic);
        }
        assert!(!panicked, "a helper panicked");
    }
}

/// A moment, and a longer one after many. In the end it sleeps: a caller of real-time priority would otherwise yield to
/// its equals only, and keep the processor from the very helper that it waits for.
fn pause(looks: &mut u32) {
    *looks = looks.saturating_add(1);
    if *looks <= SPINS {
        core::hint::spin_loop();
    } else if *looks <= SPINS + YIELDS {
        std::thread::yield_now();
    } else {
        std::thread::sleep(NAP);
    }
}

/// The threads of a call, as the one that leads them sees them.
pub(crate) struct Team<'a> {
    board: Option<&'a Board>,
    threads: usize,
    /// Not for several threads: one job at a time.
    leader: PhantomData<Cell<()>>,
}

impl<'a> Team<'a> {
    /// The calling thread only.
    pub(crate) fn alone() -> Team<'a> {
        Team {
            board: None,
            threads: 1,
            leader: PhantomData,
        }
    }

    /// The calling thread and those that follow `board`, which it has opened.
    pub(crate) fn of(board: &'a Board, threads: usize) -> Team<'a> {
        Team {
            board: Some(board),
            threads,
            leader: PhantomData,
        }
    }

    /// Threads that may work at once, the leading one included.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Calls `each` once for every item, on whichever thread takes it; returns when all are done.
    #[inline(always)]
    pub(crate) fn share<I>(&self, items: I, each: impl Fn(I::Item) + Sync)
    where
        I: Iterator + Send,
    {
        let rooms = core::iter::repeat(());
        self.share_in(
            rooms,
            InOrder(items),
            #[inline(always)]
            |(), item| each(item),
        );
    }

    /// The same with a room for every thread; one for which none is left does nothing.
    ///
    /// This thread takes items from the front, its helpers from the back: of the same items job after job, each finds
    /// most in its own cache, where it has left them.
    #[inline(always)]
    pub(crate) fn share_in<R, I>(
        &self,
        rooms: impl IntoIterator<Item = R, IntoIter: Send>,
        items: I,
        each: impl Fn(&mut R, I::Item) + Sync,
    ) where
        I: DoubleEndedIterator + Send,
    {
        let mut rooms = rooms.into_iter();
        let Some(board) = self.board else {
            if let Some(mut room) = rooms.next() {
                items.for_each(
                    #[inline(always)]
                    |item| each(&mut room, item),
                );
            }
            return;
        };
        let rest = Mutex::new((rooms, items.fuse()));
        let rest = || rest.lock().unwrap_or_else(PoisonError::into_inner);
        board.lead(&|who| {
            let Some(mut room) = rest().0.next() else {
                return;
            };
            let next = || {
                let items = &mut rest().1;
                match who {
                    Who::Leader => items.next(),
                    Who::Helper => items.next_back(),
                }
            };
            while let Some(item) = next() {
                each(&mut room, item);
            }
        });
    }
}

/// Items that are taken from the front only.
struct InOrder<I>(I);

impl<I: Iterator> Iterator for InOrder<I> {
    type Item = I::Item;

    #[inline(always)]
    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }
}

impl<I: Iterator> DoubleEndedIterator for InOrder<I> {
    #[inline(always)]
    fn next_back(&mut self) -> Option<I::Item> {
        self.0.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;
    use std::sync::Barrier;

    const JOBS: usize = if cfg!(miri) { 20 } else { 2000 };

    #[test]
    fn every_item_is_done_once_before_the_next_job() {
        for helpers in [0, 1, 3] {
            let pool = Pool::new(helpers).unwrap();
            for calls in [1, 30] {
                pool.lead(|team| {
                    assert_eq!(team.threads(), helpers + 1);
                    let mut values = vec![0_usize; 37];
                    for job in 0..JOBS / calls {
                        team.share(values.iter_mut(), |value| {
                            assert_eq!(*value, job);
                            *value += 1;
                        });
                    }
                    assert!(values.iter().all(|&value| value == JOBS / calls));
                });
            }
        }
    }

    #[test]
    fn alone_does_all_of_it() {
        let done = AtomicUsize::new(0);
        let team = Team::alone();
        team.share(0..100_usize, |item| {
            done.fetch_add(item, Relaxed);
        });
        team.share(core::iter::empty::<()>(), |()| unreachable!());
        assert_eq!((done.into_inner(), team.threads()), (4950, 1));
    }

    #[test]
    fn each_thread_has_a_room_and_an_end_of_its_own() {
        let pool = Pool::new(1).unwrap();
        for rooms in [1, 2, 5] {
            let seen = Mutex::new(Vec::new());
            // With two rooms, both threads are in the middle of an item at the same time.
            let met = Barrier::new(rooms.min(2));
            pool.lead(|team| {
                team.share_in(0..rooms, 0..6, |room, item| {
                    seen.lock().unwrap().push((*room, item));
                    if item == 0 || item == 5 {
                        met.wait();
                    }
                });
            });
            let seen = seen.into_inner().unwrap();
            let mut items: Vec<usize> = seen.iter().map(|x| x.1).collect();
            items.sort_unstable();
            assert_eq!(items, [0, 1, 2, 3, 4, 5]);
            let room = |item: usize| seen.iter().find(|x| x.1 == item).map(|x| x.0);
            assert_eq!(room(0) == room(5), rooms == 1);
        }
    }

    #[test]
    fn helpers_take_part() {
        let pool = Pool::new(1).unwrap();
        for _ in 0..10 {
            // Each of the two items needs the other one to be in hand at the same time.
            let met = Barrier::new(2);
            pool.lead(|team| {
                for _ in 0..3 {
                    team.share(0..2, |_| {
                        met.wait();
                    });
                }
            });
        }
    }

    #[test]
    fn callers_at_once_do_not_wait_for_each_other() {
        let pool = Pool::new(2).unwrap();
        let total = AtomicUsize::new(0);
        // All of them lead at the same time: one has the helpers, the others are alone.
        let inside = Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    pool.lead(|team| {
                        inside.wait();
                        for _ in 0..JOBS / 20 {
                            team.share(0..10_usize, |item| {
                                total.fetch_add(item, Relaxed);
                            });
                        }
                        inside.wait();
                    });
                });
            }
        });
        assert_eq!(total.into_inner(), 4 * 45 * (JOBS / 20));
    }

    #[test]
    fn calls_of_both_kinds_can_follow_each_other() {
        let pool = Pool::new(2).unwrap();
        let total = AtomicUsize::new(0);
        for _ in 0..JOBS / 10 {
            pool.lead(|team| {
                team.share(0..5_usize, |item| {
                    total.fetch_add(item, Relaxed);
                });
            });
            let met = Barrier::new(3);
            // Needs all three threads.
            pool.run(&|| {
                met.wait();
            });
        }
        assert_eq!(total.into_inner(), 10 * (JOBS / 10));
    }

    #[test]
    fn a_panic_on_any_thread_reaches_the_caller_and_does_no_more_harm() {
        let pool = Pool::new(1).unwrap();
        let caller = std::thread::current().id();
        for on_helper in [true, false] {
            let met = Barrier::new(2);
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                pool.lead(|team| {
                    team.share(0..2, |_| {
                        met.wait();
                        if (std::thread::current().id() != caller) == on_helper {
                            panic!("on purpose");
                        }
                    });
                });
            }));
            assert!(outcome.is_err());
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| pool.lead(|_| panic!("on purpose"))));
        assert!(outcome.is_err());
        let met = Barrier::new(2);
        let total = pool.lead(|team| {
            let total = AtomicUsize::new(0);
            team.share(0..2_usize, |item| {
                met.wait();
                total.fetch_add(item, Relaxed);
            });
            total.into_inner()
        });
        assert_eq!(total, 1);
    }

    /// Keeps this thread and those that it starts on one processor.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn stay_on_one_processor() {
        // SAFETY: zeros are an empty set, and the calls get sets of the size that they are told.
        let done = unsafe {
            let mut set: libc::cpu_set_t = core::mem::zeroed();
            libc::CPU_SET(libc::sched_getcpu() as usize, &mut set);
            libc::sched_setaffinity(0, size_of_val(&set), &set)
        };
        assert_eq!(done, 0);
    }

    /// Whether this thread now comes before every ordinary one.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn come_first() -> bool {
        let priority = libc::sched_param { sched_priority: 1 };
        // SAFETY: the call reads the one value that it is given.
        unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &priority) == 0 }
    }

    /// The helper of a caller of real-time priority gets the processor while the caller waits for it.
    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn a_caller_that_comes_first_lets_its_helper_finish() {
        let caller = std::thread::spawn(|| {
            stay_on_one_processor();
            let pool = Pool::new(1).unwrap();
            if !come_first() {
                println!("skipped: this user has no real-time priority");
                return;
            }
            let caller = std::thread::current().id();
            let taken = AtomicBool::new(false);
            pool.lead(|team| {
                team.share(0..2, |_| {
                    if std::thread::current().id() == caller {
                        // Asleep, so that the helper comes to the other item. Then it is interrupted in the middle.
                        while !taken.load(Acquire) {
                            std::thread::sleep(Duration::from_millis(1));
                        }
                    } else {
                        taken.store(true, Release);
                        let begin = Instant::now();
                        while begin.elapsed() < Duration::from_millis(20) {
                            core::hint::spin_loop();
                        }
                    }
                });
            });
        });
        // Otherwise it takes until the kernel stops real-time threads for a moment, once a second, or for ever.
        let begin = Instant::now();
        caller.join().unwrap();
        assert!(
            begin.elapsed() < Duration::from_millis(500),
            "{:?}",
            begin.elapsed()
        );
    }
}
