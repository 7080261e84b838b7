//! Names are unique, defaults are accepted, and one name never has two types.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_schema::{FactorRef, Label, LayerSchema, Settings, Vocabulary};

fn layers() -> &'static [&'static LayerSchema] {
    Vocabulary::default().layers()
}

fn factors(layer: &LayerSchema) -> impl Iterator<Item = FactorRef> + '_ {
    layer
        .subject
        .iter()
        .chain(layer.workload)
        .chain(layer.published)
        .copied()
}

fn is_snake(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The names that occur more than once.
fn repeated<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let mut seen = BTreeSet::new();
    names.into_iter().filter(|name| !seen.insert(*name)).collect()
}

#[test]
fn names_of_a_layer_are_unique_and_spelled_alike() {
    for layer in layers() {
        let metrics: Vec<&str> = layer.all_metrics().map(|metric| metric.name).collect();
        assert_eq!(
            repeated(metrics.iter().copied()),
            Vec::<&str>::new(),
            "{}",
            layer.name
        );
        let names: Vec<&str> = factors(layer).map(|factor| factor.name).collect();
        assert_eq!(
            repeated(names.iter().copied()),
            Vec::<&str>::new(),
            "{}",
            layer.name
        );
        let codes: Vec<&str> = layer.remarks.iter().map(|kind| kind.code).collect();
        assert_eq!(
            repeated(codes.iter().copied()),
            Vec::<&str>::new(),
            "{}",
            layer.name
        );
        assert!(
            metrics.iter().chain(&names).all(|name| is_snake(name)),
            "{}",
            layer.name
        );
        assert!(
            codes.iter().all(|code| is_snake(&code.replace('-', "_"))),
            "{}",
            layer.name
        );
    }
}

#[test]
fn a_factor_accepts_its_default_in_the_spelling_that_it_gives() {
    for layer in layers() {
        for factor in factors(layer) {
            if let Some(default) = factor.default {
                let read = factor.read(default).unwrap();
                assert_eq!(read.spelling(), default, "{}.{}", layer.name, factor.name);
            }
        }
        Settings::defaults(layer.workload);
    }
}

#[test]
fn every_factor_has_a_help_line_and_what_it_accepts() {
    for layer in layers() {
        for factor in factors(layer) {
            let place = format!("{}.{}", layer.name, factor.name);
            assert!(!factor.help.is_empty() && !factor.help.ends_with('.'), "{place}");
        }
        for factor in layer.subject.iter().chain(layer.workload) {
            assert!(!factor.accepted.is_empty(), "{}.{}", layer.name, factor.name);
            if let Label::Always(words) | Label::Unusual(words) = factor.label {
                assert!(words.contains("{}"), "{}.{}", layer.name, factor.name);
            }
        }
    }
}

#[test]
fn one_factor_name_has_one_column_in_all_layers_and_none_that_a_record_has() {
    let of_records = [
        "run",
        "trial",
        "cell",
        "layer",
        "subject",
        "repetition",
        "seed",
        "factors",
        "metric",
        "unit",
        "value",
        "provenance",
        "source",
        "started_at",
        "duration_s",
    ];
    let mut columns = BTreeMap::new();
    for layer in layers() {
        for factor in layer.workload.iter().chain(layer.published) {
            let column = factor.column();
            let known = *columns.entry(factor.name).or_insert(column);
            assert_eq!(known, column, "{} in {}", factor.name, layer.name);
            assert!(
                !of_records.contains(&factor.column_name(column).as_str()),
                "{}",
                factor.name
            );
        }
    }
}

#[test]
fn what_a_layer_refers_to_it_has() {
    for layer in layers() {
        for metric in layer.headline {
            assert_eq!(layer.metric(metric.name), Some(*metric), "{}", layer.name);
        }
        for factor in layer.to_state {
            assert!(
                layer.factor(factor.name).is_some(),
                "{}.{}",
                layer.name,
                factor.name
            );
        }
        for factor in layer.size.iter().chain(&layer.path) {
            assert!(
                layer.subject.iter().any(|own| own.name == factor.name),
                "{}",
                layer.name
            );
        }
    }
}

#[test]
fn every_metric_says_what_it_means_and_whether_more_is_better() {
    for layer in layers() {
        for metric in layer.all_metrics() {
            assert!(
                !metric.meaning.is_empty() && !metric.meaning.ends_with('.'),
                "{}",
                metric.name
            );
        }
    }
    use outcrop_measure::metric::Better;
    let better = |layer: &str, name: &str| Vocabulary::default().metric(layer, name).unwrap().better;
    assert_eq!(better("cache", "hit_ratio"), Some(Better::Higher));
    assert_eq!(better("compression", "compression_ratio"), Some(Better::Higher));
    assert_eq!(better("column", "file_bytes"), Some(Better::Lower));
    assert_eq!(better("device", "device_bytes_ratio"), None);
}
