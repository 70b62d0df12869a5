//! What recorded bills teach about estimates, for each tenant and profile.

use super::Engine;
use super::prompt::Prompt;
use super::state::{Learned, decode};

/// The weight of the newest ratio in the rolling factor.
const NEW: f64 = 0.3;
/// How many of the latest ratios are kept.
const KEPT: usize = 64;
/// Ratios that it takes before they correct anything.
const ENOUGH: usize = 3;
/// The share of observed ratios that the bound covers.
const QUANTILE: f64 = 0.98;
/// A factor this near to 1 is left alone: rules that are exact stay exact after one odd bill.
const DEAD_BAND: f64 = 0.01;

/// How estimates are corrected by what was learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correction {
    factor: f64,
    quantile: f64,
}

impl Correction {
    /// Leaves estimates as they are.
    pub const NONE: Self = Self { factor: 1.0, quantile: 1.0 };

    /// Corrects an estimate, and raises its bound where bills were seen above it.
    pub fn apply(&self, tokens: u32, bound: u32) -> (u32, u32) {
        let corrected = (f64::from(tokens) * self.factor).round() as u32;
        let seen = (f64::from(tokens) * self.quantile).ceil() as u32;
        (corrected, bound.max(seen).max(corrected))
    }
}

impl From<&Learned> for Correction {
    fn from(learned: &Learned) -> Self {
        if learned.ratios.len() < ENOUGH {
            return Self::NONE;
        }
        let mut ratios = learned.ratios.clone();
        ratios.sort_by(f32::total_cmp);
        let at = ((ratios.len() as f64 * QUANTILE).ceil() as usize).clamp(1, ratios.len()) - 1;
        let factor = if (learned.factor - 1.0).abs() < DEAD_BAND { 1.0 } else { learned.factor };
        Self { factor, quantile: f64::from(ratios[at]) }
    }
}

impl Learned {
    /// Takes in one more ratio of a bill to the rules' estimate of it.
    pub fn observe(&mut self, ratio: f64) {
        let old = if self.ratios.is_empty() { ratio } else { self.factor };
        self.factor = (1.0 - NEW) * old + NEW * ratio;
        self.ratios.push(ratio as f32);
        let surplus = self.ratios.len().saturating_sub(KEPT);
        self.ratios.drain(..surplus);
    }
}

impl Engine {
    /// What is known of the prompt's profile.
    pub(super) fn learned(&self, prompt: &Prompt) -> Learned {
        let key = prompt.keys.learned(&prompt.digester.root());
        decode(self.recall(&key)).unwrap_or_default()
    }

    /// How the prompt's estimate is to be corrected.
    pub(super) fn correction(&self, prompt: &Prompt) -> Correction {
        Correction::from(&self.learned(prompt))
    }
}
