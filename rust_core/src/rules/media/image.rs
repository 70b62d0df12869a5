//! Images: from width, height and detail to tokens. Each provider has a kind of rule, each model
//! its constants in the profile table.

use serde::Deserialize;

use super::Caveats;
use crate::conversation::Media;

/// How an image's size becomes tokens.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ImageRule {
    /// `OpenAI`, gpt-4o and its like: the image is shrunk to fit 2048×2048, then to a short side
    /// of 768, and paid by tiles of 512×512. Detail `low` costs `base`.
    Tiles {
        /// Paid once.
        base: u32,
        /// Paid for each tile.
        tile: u32,
    },
    /// `OpenAI`, small and new models: patches of 32×32, at most as many as the detail's budget,
    /// times a factor.
    Patches {
        /// Tokens for one patch.
        multiplier: f64,
        /// The most patches without a detail, or with `auto`.
        auto: u32,
        /// The most patches with detail `high`.
        high: u32,
        /// The most patches with detail `original`.
        original: u32,
    },
    /// Claude: a grid of 28×28, after shrinking to a longest side and a number of cells.
    Grid28 {
        /// The longest side in pixels.
        side: u32,
        /// The most cells.
        most: u32,
    },
    /// Gemini 2.0: one `crop` for a small image, else one more for each crop of the grid.
    Crops {
        /// Paid for each crop.
        crop: u32,
        /// Taken where the size is unknown.
        most: u32,
    },
    /// Gemini 3: the image is scaled, up or down, to the most whole cells of 48×48 that keep its
    /// proportions within the resolution's budget. The budgets are published
    /// (<https://ai.google.dev/gemini-api/docs/media-resolution>), the scaling is that of Gemma 4's
    /// image processor; the one recorded size is met exactly.
    Fit {
        /// The most cells at the default resolution, which is the high one.
        budget: u32,
    },
    /// The same for every image.
    Flat {
        /// What it costs.
        tokens: u32,
    },
    /// No rule is known.
    Unruled {
        /// The most that an image costs.
        most: u32,
    },
}

/// An image's size in pixels, neither side 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// What an image costs: the estimate, the most it may be by the rule, and what wasn't known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The estimate.
    pub tokens: u32,
    /// The most.
    pub most: u32,
    /// What wasn't known.
    pub caveats: Caveats,
}

impl Cost {
    const fn known(tokens: u32) -> Self {
        Self { tokens, most: tokens, caveats: Caveats(0) }
    }

    const fn unknown_size(most: u32) -> Self {
        Self { tokens: most, most, caveats: Caveats::IMAGE_SIZE_UNKNOWN }
    }
}

impl Dimensions {
    /// The size in the header of the image's bytes, else the one that the caller gave.
    #[must_use]
    pub fn of(media: &Media) -> Option<Self> {
        let header = imagesize::blob_size(&media.data).ok();
        let (width, height) = match header {
            Some(size) => (saturate(size.width), saturate(size.height)),
            None => (media.width, media.height),
        };
        (width > 0 && height > 0).then_some(Self { width, height })
    }

    /// The cells of a grid that covers the image scaled by `scale`.
    fn cells(self, scale: f64, cell: f64) -> f64 {
        let along = |side: u32| (f64::from(side) * scale / cell - 1e-9).ceil().max(1.0);
        along(self.width) * along(self.height)
    }

    fn long(self) -> f64 {
        f64::from(self.width.max(self.height))
    }

    fn short(self) -> f64 {
        f64::from(self.width.min(self.height))
    }

    fn area(self) -> f64 {
        f64::from(self.width) * f64::from(self.height)
    }
}

impl ImageRule {
    /// What an image of that size and detail costs; `None` is an unknown size, which costs the
    /// most that the model takes.
    #[must_use]
    pub fn cost(&self, size: Option<Dimensions>, detail: &str) -> Cost {
        match *self {
            Self::Tiles { base, .. } if detail == "low" => Cost::known(base),
            // 2048×768 holds 4×2 tiles.
            Self::Tiles { base, tile } => size
                .map_or(Cost::unknown_size(base + 8 * tile), |size| {
                    Cost::known(base + tile * tiles(size))
                }),
            Self::Patches { multiplier, auto, high, original } => {
                let budget = match detail {
                    "high" => high,
                    "original" => original,
                    _ => auto,
                };
                patches(size, detail, budget, multiplier)
            }
            Self::Grid28 { side, most } => size.map_or(Cost::unknown_size(most), |size| {
                Cost::known(grid28(size, f64::from(side), most))
            }),
            Self::Crops { crop, most } => size.map_or(Cost::unknown_size(most), |size| {
                Cost::known(crop.saturating_mul(crops(size)))
            }),
            Self::Fit { budget } => {
                let budget = match detail {
                    "low" => budget / 4,
                    "medium" => budget / 2,
                    "ultra_high" => budget.saturating_mul(2),
                    _ => budget,
                };
                size.map_or(Cost::unknown_size(budget), |size| Cost::known(fit(size, budget)))
            }
            Self::Flat { tokens } => Cost::known(tokens),
            Self::Unruled { most } => Cost { tokens: most, most, caveats: Caveats::MEDIA_UNRULED },
        }
    }
}

/// Tiles of 512 after the two shrinkings; an image is never enlarged.
fn tiles(size: Dimensions) -> u32 {
    let fit = (2048.0 / size.long()).min(1.0);
    let scale = fit * (768.0 / (size.short() * fit)).min(1.0);
    size.cells(scale, 512.0) as u32
}

/// `low` is documented as an image of 512×512, but no bill was seen of it: only the estimate
/// relies on that.
fn patches(size: Option<Dimensions>, detail: &str, budget: u32, multiplier: f64) -> Cost {
    let tokens = |patches: u32| (f64::from(patches) * multiplier - 1e-9).ceil() as u32;
    let Some(size) = size else { return Cost::unknown_size(tokens(budget)) };
    let most = tokens(patch_count(size, budget));
    let low = tokens(patch_count(size, budget.min(256)));
    Cost { tokens: if detail == "low" { low } else { most }, ..Cost::known(most) }
}

/// Patches of 32; over the budget the image is shrunk to whole patches in one direction.
fn patch_count(size: Dimensions, budget: u32) -> u32 {
    let whole = size.cells(1.0, 32.0);
    if whole <= f64::from(budget) {
        return whole as u32;
    }
    let fit = (1024.0 * f64::from(budget) / size.area()).sqrt();
    let rounded = |side: u32| {
        let patches = f64::from(side) * fit / 32.0;
        patches.floor() / patches
    };
    let scale = fit * rounded(size.width).min(rounded(size.height));
    match size.cells(scale, 32.0) as u32 {
        // A side of less than one patch: the published rule says nothing sensible.
        _ if scale <= 0.0 => budget,
        patches => patches.min(budget),
    }
}

fn grid28(size: Dimensions, longest: f64, most: u32) -> u32 {
    let fit = (longest / size.long()).min(1.0);
    let cells = size.cells(fit, 28.0);
    if cells <= f64::from(most) { cells as u32 } else { most }
}

fn crops(size: Dimensions) -> u32 {
    if size.width <= 384 && size.height <= 384 {
        return 1;
    }
    let unit = (size.short() / 1.5).floor().clamp(256.0, 768.0);
    (size.cells(1.0, unit) as u32).saturating_add(1)
}

/// Whole cells along both sides of the image scaled to the budget's area.
fn fit(size: Dimensions, budget: u32) -> u32 {
    let scale = (f64::from(budget) / size.area()).sqrt();
    let along = |side: u32| (f64::from(side) * scale + 1e-9).floor().max(1.0);
    ((along(size.width) * along(size.height)) as u32).min(budget)
}

fn saturate(side: usize) -> u32 {
    u32::try_from(side).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
