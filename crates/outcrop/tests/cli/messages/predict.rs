//! Files from which nothing can be predicted.

use super::scene::Scene;

const STORE: &str = "[[application]]\nname = \"store\"\nclients = 40\nthroughput = \"212k\"\nblock_size = \"16KiB\"\ndecompressed_blocks = 0.62\n";
const CARD: &str = "[[component]]\nname = \"card\"\nplace = \"accelerator\"\ndecompress_latency = \"14us@4KiB, 63us@64KiB\"\nunits = 30\n";
const MEASURED: &str = "application,component,throughput\n";

#[test]
fn files_that_cannot_be_predicted_from_say_where_and_why() {
    let mut scene = Scene::new();
    scene.file("text.json", "no report\n");
    scene.file("empty.toml", "");
    scene.file("store.toml", STORE);
    scene.file("unknown.toml", format!("{STORE}blocksize = \"4KiB\"\n"));
    scene.file("unit.toml", STORE.replace("16KiB", "16XB"));
    scene.file("column.csv", "name,place,speed\ncard,accelerator,1\n");
    scene.file("place.toml", CARD.replace("accelerator", "slot"));
    scene.file("twice.toml", CARD.replace("63us@64KiB", "63us@4KiB"));
    scene.file("other.csv", format!("{MEASURED}bank,DPZip,205k\n"));
    scene.file("bytes.csv", format!("{MEASURED}store,DPZip,2GB/s\n"));
    scene.file(
        "twice.csv",
        format!("{MEASURED}store,DPZip,205k\nstore,DPZip,206k\n"),
    );
    std::fs::create_dir(scene.dir().join("empty")).unwrap();
    for line in [
        "predict",
        "predict --application missing.toml",
        "predict --application text.json",
        "predict --application empty.toml",
        "predict --application unknown.toml",
        "predict --application unit.toml",
        "predict --application store.toml --components missing.csv",
        "predict --application store.toml --components column.csv",
        "predict --application store.toml --components place.toml",
        "predict --application store.toml --components twice.toml",
        "predict --application store.toml --measured other.csv",
        "predict --application store.toml --measured bytes.csv",
        "predict --application store.toml --measured twice.csv",
        "predict --application store.toml --clients 0",
        "predict --application store.toml --clients many",
        "predict --run missing",
        "predict --run empty",
        "predict --print-components --format xml",
    ] {
        scene.refused(line);
    }
    insta::assert_snapshot!(scene.transcript());
}
