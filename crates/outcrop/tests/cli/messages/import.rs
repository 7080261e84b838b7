//! Results of other programs that cannot be imported.

use super::scene::Scene;

/// As much of a result of fio as an import needs before it looks at what is assumed.
const REPORT: &str = r#"{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "job options": {"rw": "randread", "bs": "4k"}, "read": {}}]}"#;

#[test]
fn results_that_cannot_be_imported_say_why() {
    let mut scene = Scene::new();
    scene.file("text.json", "no report\n");
    scene.file("cut.json", "{\"fio version\": \"fio-3.33\",\n \"jobs\": [");
    scene.file("other.json", "{\"a\": 1}\n");
    scene.file("ok.json", REPORT);
    std::fs::create_dir(scene.dir().join("empty")).unwrap();
    for line in [
        "import",
        "import fio",
        "import fio missing",
        "import fio empty",
        "import fio text.json",
        "import fio cut.json",
        "import fio other.json",
        "import fio ok.json --assume state",
        "import fio ok.json --assume colour=blue",
        "import fio ok.json --assume queue_depth=many",
        "import fio ok.json --assume queue_depth=77,queue_depth=78",
        "import fio ok.json --dry-run --format json",
    ] {
        scene.refused(line);
    }
    insta::assert_snapshot!(scene.transcript());
}
