//! Where training runs.

use burn::tensor::Device;
use clap::ValueEnum;

/// A kind of device.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
pub enum Kind {
    /// The processor.
    #[default]
    Cpu,
    /// The first NVIDIA card.
    #[cfg(feature = "cuda")]
    Cuda,
    /// The graphics card, whoever made it.
    #[cfg(feature = "wgpu")]
    Wgpu,
}

impl Kind {
    /// The device.
    pub fn open(self) -> Device {
        match self {
            Kind::Cpu => Device::flex(),
            #[cfg(feature = "cuda")]
            Kind::Cuda => Device::cuda(0_usize),
            #[cfg(feature = "wgpu")]
            Kind::Wgpu => Device::wgpu(burn::tensor::DeviceKind::DefaultDevice),
        }
    }
}
