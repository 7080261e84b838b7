//! The two distributions of the ETC model, by their quantile functions.

/// The generalised extreme value distribution. *Source*: Atikoglu et al., SIGMETRICS 2012, table 5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneralisedExtremeValue {
    /// Location µ.
    pub location: f64,
    /// Scale σ.
    pub scale: f64,
    /// Shape k, not zero.
    pub shape: f64,
}

impl GeneralisedExtremeValue {
    /// The value that a fraction `quantile` of draws, strictly between 0 and 1, does not exceed.
    pub fn quantile(&self, quantile: f64) -> f64 {
        self.location + self.scale / self.shape * ((-quantile.ln()).powf(-self.shape) - 1.0)
    }
}

/// The generalised Pareto distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneralisedPareto {
    /// Location θ: the smallest value.
    pub location: f64,
    /// Scale σ.
    pub scale: f64,
    /// Shape k, not zero.
    pub shape: f64,
}

impl GeneralisedPareto {
    /// The value that a fraction `quantile` of draws, from 0 to below 1, does not exceed.
    pub fn quantile(&self, quantile: f64) -> f64 {
        self.location + self.scale / self.shape * ((1.0 - quantile).powf(-self.shape) - 1.0)
    }

    /// The mean, where the shape is below 1.
    pub fn mean(&self) -> f64 {
        self.location + self.scale / (1.0 - self.shape)
    }
}

/// Lengths of keys in bytes.
pub const ETC_KEY_SIZE: GeneralisedExtremeValue = GeneralisedExtremeValue {
    location: 30.7984,
    scale: 8.20449,
    shape: 0.078_688,
};

/// Lengths of values from 15 bytes on.
pub const ETC_LARGE_VALUE_SIZE: GeneralisedPareto = GeneralisedPareto {
    location: 15.0,
    scale: 214.476,
    shape: 0.348_238,
};

/// Microseconds between requests, before they are rescaled to a wanted rate.
pub const ETC_INTER_ARRIVAL_US: GeneralisedPareto = GeneralisedPareto {
    location: 0.0,
    scale: 16.0292,
    shape: 0.154_971,
};

/// How often values of 0 to 14 bytes occur; the rest are [`ETC_LARGE_VALUE_SIZE`].
pub const ETC_SMALL_VALUE_SHARES: [f64; 15] = [
    0.005_36, 0.000_47, 0.178_20, 0.092_39, 0.000_18, 0.027_40, 0.000_65, 0.006_06, 0.000_23, 0.008_37,
    0.008_37, 0.089_89, 0.000_92, 0.003_26, 0.019_80,
];

/// The length of a value, without rounding, that a fraction `quantile` of the values does not exceed.
pub fn etc_value_size(quantile: f64) -> f64 {
    let mut below = 0.0;
    for (size, share) in ETC_SMALL_VALUE_SHARES.iter().enumerate() {
        below += share;
        if quantile < below {
            return size as f64;
        }
    }
    ETC_LARGE_VALUE_SIZE.quantile((quantile - below) / (1.0 - below))
}
