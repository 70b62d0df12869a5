//! What images, audio, video and documents cost, by the provider's published rules.

pub mod image;

use serde::Deserialize;

use super::{Caveats, Kind, Tally};
use crate::conversation::{Media, MediaKind};
use image::{Dimensions, ImageRule};

/// What media cost with one model, in tokens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediaRules {
    /// How an image's size becomes tokens.
    pub image: ImageRule,
    /// Added to every image beside its rule.
    #[serde(default)]
    pub image_frame: u32,
    /// What bills were seen above the rule, as a share; only the bound has it.
    #[serde(default)]
    pub image_margin: f64,
    /// What bills were seen above the rule, in tokens; only the bound has it.
    #[serde(default)]
    pub image_slack: u32,
    /// The most that a second of audio costs.
    pub audio_per_second: f64,
    /// The most that a second of video costs.
    pub video_per_second: f64,
    /// The most that a page of a document costs.
    pub per_page: u32,
}

impl MediaRules {
    /// Adds one medium to the tally, with what could not be known about it.
    pub fn add(&self, tally: &mut Tally, media: &Media) {
        let bound = match media.kind {
            MediaKind::Image => return self.add_image(tally, media),
            MediaKind::Audio => (self.audio_per_second * seconds(media)).ceil() as u32,
            MediaKind::Video => (self.video_per_second * seconds(media)).ceil() as u32,
            MediaKind::File => self.per_page.saturating_mul(pages(media)),
        };
        tally.caveats.insert(Caveats::MEDIA_UNRULED);
        tally.add(Kind::Media, bound, bound);
    }

    fn add_image(&self, tally: &mut Tally, media: &Media) {
        let cost = self.image.cost(Dimensions::of(media), &media.detail);
        tally.caveats.insert(cost.caveats);
        let tokens = cost.tokens.saturating_add(self.image_frame);
        let most = cost.most.saturating_add(self.image_frame + self.image_slack);
        tally.add(Kind::Media, tokens, (f64::from(most) * (1.0 + self.image_margin)).ceil() as u32);
    }
}

/// The duration; unknown, it is taken from the bytes at 8 kbit/s, or as an hour for a URL.
fn seconds(media: &Media) -> f64 {
    match media {
        Media { duration, .. } if *duration > 0.0 => *duration,
        Media { data, .. } if !data.is_empty() => data.len() as f64 / 1000.0,
        _ => 3600.0,
    }
}

/// The pages; unknown, one for each 2 KiB, or a hundred for a URL.
fn pages(media: &Media) -> u32 {
    match media {
        Media { pages, .. } if *pages > 0 => *pages,
        Media { data, .. } if !data.is_empty() => data.len().div_ceil(2048) as u32,
        _ => 100,
    }
}
