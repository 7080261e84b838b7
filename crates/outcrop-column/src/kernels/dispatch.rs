//! A kernel in several forms, of which the fastest that this machine can run is chosen once.

/// One form of a kernel.
#[derive(Debug)]
pub(super) struct Form<F> {
    /// What the processor must have for it: its name in test failures.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests name the form that fails"))]
    pub(super) features: &'static str,
    /// Whether this machine can run it.
    pub(super) available: fn() -> bool,
    /// To be called only where `available` answers true.
    pub(super) function: F,
}

/// Defines a kernel: a function that runs the first of its forms that this machine can run, and `forms()`,
/// all that it can run, for tests. The last form needs no feature.
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
                    available: || $(is_x86_feature_detected!($feature))&&+,
                    function: kernel!(@compiled [$($feature),+] $vector, $arguments -> $output),
                },
            )+
            $crate::kernels::dispatch::Form {
                features: "none",
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
            static CHOICE: std::sync::OnceLock<Function> = std::sync::OnceLock::new();
            CHOICE.get_or_init(|| forms().next().map_or($plain, |form| form.function))($($argument),+)
        }
    };
}

pub(super) use kernel;
