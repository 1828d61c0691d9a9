//! Floating-point modes. A host may round upwards, flush small numbers to zero or trap on NaN; the kernels, like all
//! Rust code, are compiled for rounding to nearest with nothing flushed and nothing trapped.
//!
//! So a call that comes from another language works in the default modes, and puts back what the host had: modes and
//! flags. Threads of a model are started inside of such a call, and so have the default modes for life. (On Windows they
//! enter them themselves.)

use machine::Modes;

/// While it lives, this thread is in the default modes. For bindings: a Rust program is in them anyway.
///
/// ```
/// let modes = denise::modes::Default::enter();
/// // Whatever the host had set, a half of the smallest normal number is not zero here.
/// assert!(std::hint::black_box(f32::MIN_POSITIVE) * 0.5 > 0.0);
/// drop(modes);
/// ```
pub struct Default {
    host: Modes,
}

impl Default {
    /// Enters them.
    #[inline]
    pub fn enter() -> Default {
        let host = Modes::get();
        if !host.are_default() {
            Modes::DEFAULT.set();
        }
        Default { host }
    }
}

impl Drop for Default {
    #[inline]
    fn drop(&mut self) {
        // Always: also the flags that the call has raised are not the host's.
        self.host.set();
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod machine {
    use core::arch::asm;

    /// The register MXCSR: flags in bits 0 to 5, modes above. The older x87 unit is used on Windows only.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct Modes {
        register: u32,
        #[cfg(windows)]
        old: x87::Control,
    }

    impl Modes {
        pub(super) const DEFAULT: Modes = Modes {
            register: 0x1f80,
            #[cfg(windows)]
            old: x87::Control::DEFAULT,
        };
        const FLAGS: u32 = 0x3f;

        pub(super) fn get() -> Modes {
            let mut register = 0_u32;
            // SAFETY: stores four bytes there. Every machine of this architecture has the instruction.
            unsafe {
                asm!("stmxcsr [{}]", in(reg) &mut register, options(nostack, preserves_flags))
            };
            Modes {
                register,
                #[cfg(windows)]
                old: x87::Control::get(),
            }
        }

        pub(super) fn set(self) {
            // SAFETY: a value that the register had, or its default: no reserved bit is set. A mode that is not the
            // default is set only on the way back to a host that had it.
            unsafe {
                asm!("ldmxcsr [{}]", in(reg) &self.register, options(nostack, preserves_flags))
            };
            #[cfg(windows)]
            self.old.set();
        }

        pub(super) fn are_default(self) -> bool {
            #[cfg(windows)]
            if self.old != x87::Control::DEFAULT {
                return false;
            }
            self.register & !Modes::FLAGS == Modes::DEFAULT.register
        }
    }

    /// The older unit, in which the C runtime of gcc for Windows has its `rint`, `exp` and the like. Programs of MSVC,
    /// and all threads, have it round to 53 bits there.
    #[cfg(windows)]
    mod x87 {
        use core::arch::asm;

        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(super) struct Control(u16);

        impl Control {
            /// To nearest, with all bits, nothing trapped.
            pub(super) const DEFAULT: Control = Control(0x37f);
            /// What means something: precision, rounding and traps.
            const MEANT: u16 = 0xf3f;

            pub(super) fn get() -> Control {
                let mut word = 0_u16;
                // SAFETY: stores two bytes there. Every machine of this architecture has the instruction.
                unsafe {
                    asm!("fnstcw [{}]", in(reg) &mut word, options(nostack, preserves_flags))
                };
                Control(word & Control::MEANT | Control::DEFAULT.0 & !Control::MEANT)
            }

            /// It takes some nanoseconds, and mostly there is nothing to change.
            pub(super) fn set(self) {
                if Control::get() != self {
                    // SAFETY: a value that the register had, or its default. What is not the default is set only on
                    // the way back to a host that had it.
                    unsafe {
                        asm!("fldcw [{}]", in(reg) &self.0, options(nostack, preserves_flags))
                    };
                }
            }
        }
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod machine {
    use core::arch::asm;

    /// The registers FPCR, the modes, and FPSR, the flags.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct Modes {
        control: u64,
        flags: u64,
    }

    impl Modes {
        pub(super) const DEFAULT: Modes = Modes {
            control: 0,
            flags: 0,
        };

        pub(super) fn get() -> Modes {
            let (control, flags);
            // SAFETY: reads two registers that every program may read.
            unsafe {
                asm!("mrs {}, fpcr", out(reg) control, options(nostack, preserves_flags));
                asm!("mrs {}, fpsr", out(reg) flags, options(nostack, preserves_flags));
            }
            Modes { control, flags }
        }

        pub(super) fn set(self) {
            // SAFETY: values that the registers had, or their default. A mode that is not the default is set only on
            // the way back to a host that had it.
            unsafe {
                asm!("msr fpcr, {}", in(reg) self.control, options(nostack, preserves_flags));
                asm!("msr fpsr, {}", in(reg) self.flags, options(nostack, preserves_flags));
            }
        }

        pub(super) fn are_default(self) -> bool {
            self.control == Modes::DEFAULT.control
        }
    }
}

#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod machine {
    /// Not known here.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct Modes;

    impl Modes {
        pub(super) const DEFAULT: Modes = Modes;
        pub(super) fn get() -> Modes {
            Modes
        }
        pub(super) fn set(self) {}
        pub(super) fn are_default(self) -> bool {
            true
        }
    }
}
