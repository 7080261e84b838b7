//! What is not predictable, and which condition is missing.

use outcrop_predict::{Energy, applications, components, predict};

fn missing(application: &str, component: &str) -> String {
    let application = applications(application).unwrap().remove(0);
    let component = components(component).unwrap().0.remove(0);
    predict(&application, Some(&component), None)
        .unwrap_err()
        .to_string()
}

const QAT: &str = "[[component]]\nname = 'QAT'\nplace = 'accelerator'\ncompress_latency = '27us@4KiB, 172us@64KiB'\n\
                   decompress_latency = '14us@4KiB, 63us@64KiB'\nunits = 30\n";

#[test]
fn a_throughput_that_includes_opening_is_no_operations_rate() {
    let text = "[[application]]\nname = 'store'\nclients = 8\nthroughput = '100k'\nincludes_opening = true\n\
                block_size = '4KiB'\ndecompressed_blocks = 1\n";
    assert!(missing(text, QAT).contains("opening_time, operations"));
    let stated = format!("{text}opening_time = '5s'\noperations = 1_000_000\n");
    let application = applications(&stated).unwrap().remove(0);
    let found = predict(&application, None, None).unwrap();
    // A million operations took 10 s with opening, 5 s without.
    assert!((found.throughput - 200_000.0).abs() < 1e-6);
}

#[test]
fn a_latency_without_clients_predicts_nothing() {
    let text =
        "[[application]]\nname = 'store'\nlatency = '60us'\nblock_size = '4KiB'\ndecompressed_blocks = 1\n";
    assert!(missing(text, QAT).contains("number of clients"));
    let blocks = "[[application]]\nname = 'store'\nclients = 1\nlatency = '60us'\nblock_size = '4KiB'\n";
    assert!(missing(blocks, QAT).contains("decompressed_blocks"));
    let size = "[[application]]\nname = 'store'\nclients = 1\nlatency = '60us'\ndecompressed_blocks = 1\n";
    assert!(missing(size, QAT).contains("block_size"));
}

#[test]
fn a_latency_without_clients_predicts_nothing_for_other_numbers_of_clients_either() {
    let text = "[[application]]\nname = 'store'\nlatency = '600us'\nblock_size = '16KiB'\ndecompressed_blocks = 1\n\
                cpu = '20us'\ndevice_wait = '70us'\ncores = 16\npredict_clients = '1, 16'\n";
    let (components, _) = components(QAT).unwrap();
    let of = |text: &str, clients| {
        let application = applications(text).unwrap().remove(0);
        predict(&application, components.first(), Some(clients))
    };
    for clients in [1, 16] {
        let error = of(text, clients).unwrap_err().to_string();
        assert!(error.contains("number of clients"), "{error}");
    }
    // Where only demands are known, there is no load that nobody named.
    let demands = text.replace("latency = '600us'\n", "");
    assert!(of(&demands, 16).unwrap().throughput > of(&demands, 1).unwrap().throughput);
}

const ZLIB: &str = "name,place,compress_latency,decompress_latency,block_size\nzlib,cpu,600us,60us,16KiB\n";

#[test]
fn background_work_on_cores_that_nobody_counted_predicts_nothing() {
    let text = "[[application]]\nname = 'fill'\nclients = 16\nthroughput = '100k'\nblock_size = '16KiB'\n\
                compressed_blocks_background = 0.25\n";
    assert!(missing(text, ZLIB).contains("what limits background work"));
    let (components, _) = components(ZLIB).unwrap();
    for limit in ["cores = 8\n", "background_threads = 8\n"] {
        let application = applications(&format!("{text}{limit}")).unwrap().remove(0);
        let found = predict(&application, components.first(), None).unwrap();
        // A quarter of 600 µs an operation, of eight at once.
        assert!((found.throughput - 8.0 / 150e-6).abs() < 1e-6, "{found:?}");
    }
    // What has its own engines needs no cores for it.
    let application = applications(text).unwrap().remove(0);
    let card = outcrop_predict::components(QAT).unwrap().0;
    assert!(predict(&application, card.first(), None).is_ok());
}

fn assumed(application: &str, component: &str) -> Vec<String> {
    let application = applications(application).unwrap().remove(0);
    let component = components(component).unwrap().0.remove(0);
    predict(&application, Some(&component), None).unwrap().assumptions
}

#[test]
fn a_codec_with_a_core_for_each_client_is_said_to_have_one() {
    let text = "name,clients,throughput,block_size,decompressed_blocks\nstore,512,500k,16KiB,1\n";
    let is_said = |text: &str| {
        assumed(text, ZLIB)
            .iter()
            .any(|one| one.contains("a core for each client"))
    };
    assert!(is_said(text));
    assert!(!is_said(&text.replace("store,512,500k", "store,1,10k")));
}

#[test]
fn a_client_of_an_accelerator_has_to_wake_up_unless_it_polls() {
    let own = "[[application]]\nname = 'a'\nclients = 1\nlatency = '60us'\nblock_size = '4KiB'\ndecompressed_blocks = 2\n";
    let found = |own: &str, card: &str| {
        let application = applications(own).unwrap().remove(0);
        let component = components(card).unwrap().0.remove(0);
        predict(&application, Some(&component), None).unwrap()
    };
    let is_assumed = |own: &str, card: &str| {
        found(own, card)
            .assumptions
            .iter()
            .any(|one| one.contains("wake_time is not given"))
    };
    let near = |found: f64, expected: f64| (found - expected).abs() < 1e-6;
    // 60 µs and twice 14 µs, and twice 43 µs where nobody says otherwise: all of that is in doubt.
    let assumed = found(own, QAT);
    assert!(near(assumed.latency_ns, 174e3), "{assumed:?}");
    assert!(near(assumed.from_figures.1, 1e9 / 88e3), "{assumed:?}");
    assert!(is_assumed(own, QAT));
    let said = format!("{own}wake_time = '5us'\n");
    assert!(near(found(&said, QAT).latency_ns, 98e3));
    assert!(!is_assumed(&said, QAT));
    let polled = format!("{QAT}polled = true\n");
    assert!(near(found(own, &polled).latency_ns, 88e3));
    let drive = QAT.replace("accelerator", "drive");
    assert!(near(found(own, &drive).latency_ns, 88e3));
    assert!(!is_assumed(own, &polled) && !is_assumed(own, &drive));
}

#[test]
fn a_cpu_share_is_unknown_where_handing_blocks_over_has_no_figure() {
    let own = "[[application]]\nname = 'a'\nclients = 1\nthroughput = '10k'\nblock_size = '4KiB'\ndecompressed_blocks = 1\n\
               cpu = '50us'\ncores = 2\n";
    let share = |card: &str| {
        let application = applications(own).unwrap().remove(0);
        let component = components(card).unwrap().0.remove(0);
        let found = predict(&application, Some(&component), None).unwrap();
        (found.cpu_share, found.least_cpu_share)
    };
    let (unknown, least) = share(QAT);
    assert!(
        unknown.is_none() && least.is_some_and(|share| share > 0.1),
        "{least:?}"
    );
    assert!(
        assumed(own, QAT)
            .iter()
            .any(|one| one.contains("cpu_per_block is not given"))
    );
    assert!(share(&format!("{QAT}cpu_per_block = '2us'\n")).0.is_some());
    assert!(share(&format!("{QAT}polled = true\n")).0.is_some());
    assert!(share(&QAT.replace("accelerator", "drive")).0.is_some());
}

#[test]
fn a_component_that_says_nothing_of_a_direction_in_use_predicts_nothing() {
    let text = "[[application]]\nname = 'store'\nclients = 1\nlatency = '60us'\nblock_size = '4KiB'\ndecompressed_blocks = 1\n";
    let half = "[[component]]\nname = 'QAT'\nplace = 'accelerator'\ncompress_latency = '27us'\n";
    assert!(missing(text, half).contains("decompress_latency"));
    let capacity =
        "[[component]]\nname = 'QAT'\nplace = 'accelerator'\ndecompress_throughput = '7GB/s@4KiB'\n";
    assert!(missing(text, capacity).contains("units"));
}

#[test]
fn another_number_of_clients_needs_to_know_what_queues() {
    let text = "[[application]]\nname = 'store'\nclients = 8\nthroughput = '100k'\nblock_size = '4KiB'\ndecompressed_blocks = 1\n";
    let application = applications(text).unwrap().remove(0);
    let error = predict(&application, None, Some(16)).unwrap_err().to_string();
    assert!(error.contains("cpu, cores"), "{error}");
}

#[test]
fn power_in_coarse_steps_gives_no_joules() {
    let text = "[[application]]\nname = 'store'\nclients = 1\nthroughput = '10k'\nblock_size = '4KiB'\ndecompressed_blocks = 1\n\
                power_idle = '755W'\npower_step = '12W'\n";
    let energy = |loaded: &str| {
        let application = applications(&format!("{text}power_loaded = '{loaded}'\n"))
            .unwrap()
            .remove(0);
        predict(&application, None, None).unwrap().energy
    };
    assert!(matches!(energy("790W"), Energy::NotPredictable(reason) if reason.contains("five steps")));
    assert_eq!(energy("855W"), Energy::PerOperation(0.01));
    let no_step = text.replace("'12W'", "'0'") + "power_loaded = '755W'\n";
    let error = applications(&no_step).unwrap_err().to_string();
    assert!(error.contains("the step of the meter's readings"), "{error}");
}

#[test]
fn energy_says_that_the_cpu_time_of_an_accelerator_is_not_in_it() {
    let text = "[[application]]\nname = 'store'\nclients = 1\nthroughput = '10k'\nblock_size = '4KiB'\ndecompressed_blocks = 1\n\
                power_idle = '100W'\npower_step = '1W'\npower_loaded = '200W'\n";
    let application = applications(text).unwrap().remove(0);
    let says_so = |more: &str| {
        let component = components(&format!("{QAT}power = '10W'\n{more}"))
            .unwrap()
            .0
            .remove(0);
        let found = predict(&application, Some(&component), None).unwrap();
        assert!(matches!(found.energy, Energy::PerOperation(_)), "{found:?}");
        let assumptions = found.assumptions.iter();
        assumptions
            .filter(|text| text.contains("CPU time that QAT adds"))
            .count()
    };
    assert_eq!(says_so("polled = true\n"), 1);
    assert_eq!(says_so("cpu_per_block = '2us'\n"), 1);
    assert_eq!(says_so("cpu_per_block = '0us'\n"), 0);
}
