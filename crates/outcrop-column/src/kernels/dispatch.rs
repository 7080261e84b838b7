//! A kernel in several forms, of which the fastest that this machine can run and that may run is chosen once.

use super::choice::Kernels;

/// One form of a kernel.
#[derive(Debug)]
pub(super) struct Form<F> {
    /// What the processor must have for it: its name in test failures.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests name the form that fails"))]
    pub(super) features: &'static str,
    /// The plainest of [`Kernels`] that it belongs to.
    pub(super) kernels: Kernels,
    /// Whether this machine can run it.
    pub(super) available: fn() -> bool,
    /// To be called only where `available` answers true.
    pub(super) function: F,
}

/// The forms of [`Kernels`] of which there is a choice for each.
pub(super) const CHOICES: usize = Kernels::ALL.len();

/// The first form that belongs to kernels no wider than these.
pub(super) fn first_of<F>(
    forms: impl Iterator<Item = &'static Form<F>>,
    most: Kernels,
) -> Option<&'static Form<F>> {
    let mut forms = forms;
    forms.find(|form| form.kernels <= most)
}

/// Defines a kernel: a function that runs the first of its forms that this machine can run and that
/// [`Kernels::limit`] allows, and `forms()`, all that it can run, for tests. The last form needs no feature.
///
/// A form is compiled for the features before its arrow: a plain function that is inlined into it gets wider
/// vectors that way. A vector form that needs a feature which is not named there does not compile.
macro_rules! kernel {
    (
        $(#[$attribute:meta])*
        fn $name:ident $arguments:tt -> $output:ty {
            $([$($feature:tt),+] => $vector:path,)+
            _ => $plain:path,
        }
    ) => {
        const FORMS: &[$crate::kernels::dispatch::Form<Function>] = &[
            $(
                #[cfg(target_arch = "x86_64")]
                $crate::kernels::dispatch::Form {
                    features: stringify!($($feature),+),
                    kernels: $crate::kernels::Kernels::of_features(stringify!($($feature),+)),
                    available: || $(is_x86_feature_detected!($feature))&&+,
                    function: kernel!(@compiled [$($feature),+] $vector, $arguments -> $output),
                },
            )+
            $crate::kernels::dispatch::Form {
                features: "none",
                kernels: $crate::kernels::Kernels::Scalar,
                available: || true,
                function: $plain,
            },
        ];

        fn forms() -> impl Iterator<Item = &'static $crate::kernels::dispatch::Form<Function>> {
            FORMS.iter().filter(|form| (form.available)())
        }

        kernel!(@dispatched [$(#[$attribute])*] $name $plain, $arguments -> $output);
    };
    ($(#[$attribute:meta])* fn $name:ident $arguments:tt { $($forms:tt)+ }) => {
        kernel! { $(#[$attribute])* fn $name $arguments -> () { $($forms)+ } }
    };
    (@compiled [$($feature:tt),+] $vector:path, ($($argument:ident: $type:ty),+) -> $output:ty) => {{
        #[target_feature($(enable = $feature),+)]
        fn compiled($($argument: $type),+) -> $output {
            $vector($($argument),+)
        }
        #[expect(unsafe_code, reason = "a function with target features is called behind their detection")]
        fn checked($($argument: $type),+) -> $output {
            // SAFETY: a form is called only where `available` has found its features.
            unsafe { compiled($($argument),+) }
        }
        checked
    }};
    (@dispatched [$($attribute:tt)*] $name:ident $plain:path, ($($argument:ident: $type:ty),+) -> $output:ty) => {
        type Function = fn($($type),+) -> $output;

        $($attribute)*
        #[inline]
        pub(crate) fn $name($($argument: $type),+) -> $output {
            static CHOICE: [std::sync::OnceLock<Function>; $crate::kernels::dispatch::CHOICES] =
                [const { std::sync::OnceLock::new() }; $crate::kernels::dispatch::CHOICES];
            let most = $crate::kernels::Kernels::most();
            let choose = || -> Function {
                match $crate::kernels::dispatch::first_of(forms(), most) {
                    Some(form) => form.function,
                    None => $plain,
                }
            };
            CHOICE[most as usize].get_or_init(choose)($($argument),+)
        }
    };
}

pub(super) use kernel;
