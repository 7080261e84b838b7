//! Files of people: both formats, and what is said about slips.

use outcrop_predict::{Curve, applications, components, measured};
use proptest::prelude::*;

#[test]
fn toml_and_csv_say_the_same() {
    let toml = "[[application]]\nname = 'a'\nthreads = 40\nthroughput = '212k'\nblock_size = '16KiB'\n\
                decompressed_blocks = { foreground = 0.5, background = 0.25 }\n";
    let csv = "name,clients,throughput,block_size_KiB,decompressed_blocks,decompressed blocks background\n\
               a,40,212 Kops/s,16,0.5,0.25\n";
    assert_eq!(applications(toml).unwrap(), applications(csv).unwrap());
    let toml = "[[component]]\nname = 'q'\nplace = 'accelerator'\nunits = 30\nratio = { 4KiB = 2, 64KiB = 3 }\n\
                compress_latency = { 4KiB = '27us', 64KiB = '172us' }\ndecompress_latency = '14us@4KiB, 63us@64KiB'\n";
    let wide = "name,place,units,block_size,compress_latency_us,decompress_latency,ratio\n\
                q,accelerator,30,4KiB,27,14us,2\nq,accelerator,30,64KiB,172,63us,3\n";
    let by_direction = "component,place,units,direction,block_size,latency,ratio\nq,accelerator,30,compress,4KiB,27us,2\n\
                        q,accelerator,30,compress,64KiB,172us,3\nq,accelerator,30,decompress,4KiB,14us,2\n\
                        q,accelerator,30,decompress,64KiB,63us,3\n";
    let long = "device,parameter,value,unit,source\nq,place,accelerator,,\nq,endpoints x engines,3 x 10,,\n\
                q,compress latency,\"27us@4KiB, 172us@64KiB\",,\nq,decompress latency,\"14us@4KiB, 63us@64KiB\",,\n\
                q,ratio,\"2@4KiB, 3@64KiB\",,\n";
    let read = |text: &str| components(text).unwrap().0;
    assert_eq!(read(toml), read(wide));
    assert_eq!(read(toml), read(by_direction));
    assert_eq!(read(toml), read(long));
}

#[test]
fn a_slip_is_answered_with_the_name_that_was_meant() {
    let error = applications("[[application]]\nname = 'a'\nclinets = 4\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "[[application]] 1, `clinets`: unknown name; did you mean `clients`?"
    );
    let error = applications("name,clients,latency\na,4,60\n")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("line 2, `latency`") && error.contains("no unit"),
        "{error}"
    );
    let error = components("[[component]]\nname = 'a'\nplace = 'moon'\n")
        .unwrap_err()
        .to_string();
    assert!(error.contains("cpu, accelerator or drive"), "{error}");
    let error = components("[[component]]\nname = 'a'\nplace = 'cpu'\n")
        .unwrap_err()
        .to_string();
    assert!(error.contains("compress_latency"), "{error}");
    let error = applications("[[aplication]]\nname = 'a'\n")
        .unwrap_err()
        .to_string();
    assert!(error.contains("[[application]]"), "{error}");
}

#[test]
fn two_figures_for_one_block_size_are_refused() {
    let text = "name,place,block_size,decompress_latency\nq,cpu,4KiB,14us\nq,cpu,4KiB,15us\n";
    let error = components(text).unwrap_err().to_string();
    assert!(error.contains("two figures at 4KiB"), "{error}");
    let text = "name,place,decompress_latency\nq,cpu,14us\nq,cpu,15us\n";
    assert!(
        components(text)
            .unwrap_err()
            .to_string()
            .contains("give block_size")
    );
}

#[test]
fn a_list_of_parameters_gives_what_it_has_and_names_the_rest() {
    let list = "device,parameter,value,unit,source\n\
                card,area,6 mm2,,a blog\ncard,unloaded decompress latency,11.6 + 1.095 ns/B*n,us,a fit\n\
                card,unloaded compress latency,20.6 + s(r)*n,us,a fit\n\
                chip,decompress latency,\"2 us @4KiB, 4 us @64KiB -> 1.9 + 0.1 ns/B*n\",us,\nhost,idle,755,W,\n";
    let (components, notes) = components(list).unwrap();
    let names: Vec<&str> = components
        .iter()
        .map(|component| component.name.as_str())
        .collect();
    assert_eq!(names, ["card", "chip"]);
    assert_eq!(
        components[0].decompress.latency,
        Some(Curve::line(11_600.0, 1.095).unwrap())
    );
    assert_eq!(components[0].compress.latency, None);
    for words in [
        "`area`: it is not used",
        "compress_latency",
        "host: it has no latency",
        "card: place is not given",
    ] {
        assert!(
            notes.iter().any(|note| note.contains(words)),
            "{words}: {notes:?}"
        );
    }
}

proptest! {
    #[test]
    fn hostile_text_is_an_error_and_never_a_panic(text in "\\PC{0,200}", value in "\\PC{0,20}") {
        let _ = (applications(&text), components(&text), measured(&text));
        let value = value.replace(['\'', '\n', '\r'], "");
        for key in ["clients", "throughput", "latency", "block_size", "decompressed_blocks", "predict_clients", "power_idle", "cpu_utilisation", "operation_size", "wake_time"] {
            let _ = applications(&format!("[[application]]\nname = 'a'\n{key} = '{value}'\n"));
        }
        for key in ["units", "compress_latency", "decompress_throughput", "ratio", "place", "shared"] {
            let _ = components(&format!("[[component]]\nname = 'a'\n{key} = '{value}'\n"));
        }
    }

    #[test]
    fn numbers_of_every_size_predict_something_finite_or_say_why(
        clients in prop_oneof![Just(0.0), Just(f64::NAN), Just(-1.0), 1e-9f64..1e17],
        throughput in prop_oneof![Just(0.0), Just(f64::INFINITY), 1e-9f64..1e17],
        latency in 1e-3f64..1e15,
        blocks in 0.0f64..1e12,
    ) {
        let text = format!("name,clients,throughput,block_size,decompressed_blocks\na,{clients},{throughput},4096,{blocks}\n");
        let engine = format!("name,place,decompress_latency,units\nq,accelerator,{latency:.3}us,4\n");
        if let (Ok(own), Ok((engines, _))) = (applications(&text), components(&engine))
            && let Ok(found) = outcrop_predict::predict(&own[0], engines.first(), None)
        {
            prop_assert!(found.throughput.is_finite() && found.throughput >= 0.0, "{found:?}");
        }
    }
}
