//! Work on several items at once.

use std::thread;

/// What `action` makes of each item, in order. Several items run at once, each on its own thread.
pub(crate) fn side_by_side<T: Send, R: Send>(
    items: impl IntoIterator<Item = T>,
    action: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let mut items: Vec<T> = items.into_iter().collect();
    if items.len() <= 1 {
        return items.drain(..).map(action).collect();
    }
    thread::scope(|scope| {
        let action = &action;
        let running: Vec<_> = items
            .into_iter()
            .map(|item| scope.spawn(move || action(item)))
            .collect();
        running
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    })
}
