//! Devices, files and factors that cannot be measured, and words of fio.

use super::scene::Scene;

#[test]
fn devices_and_their_factors_are_refused_before_anything_is_written() {
    let mut scene = Scene::new();
    scene.file("small", [7; 100]);
    scene.file("file", vec![7; 1 << 20]);
    let _socket = std::os::unix::net::UnixListener::bind(scene.dir().join("socket")).unwrap();
    for line in [
        "device --queue-depth 0",
        "device --queue-depth 1000000",
        "device --jobs 0",
        "device --io-block-size 3000",
        "device --io-block-size 32MiB --size 16MiB",
        "device --span 2GiB --size 1GiB",
        "device --read-write-mix 70:40",
        "device --access-pattern zipfian",
        "device --access-pattern strided:5000",
        "device --arrival constant:0",
        "device --content entropy:9",
        "device --engine posixaio",
        "device --sync each",
        "device --sync sometimes",
        "device --access cached",
        "device /no/such/device --destroy S1",
        "device file --destroy S1",
        "device . --destroy S1",
        "device --engine psync --queue-depth 32",
        "device --submission many",
        "device --size 1k",
        "device --duration 1ms",
        "device file",
        "device /proc --seed 1",
        "device /dev --seed 1",
        "device --read-only /no/such/file",
        "device --read-only /dev/null",
        "device --read-only socket",
        "device --read-only small",
        "device --read-only file --read-write-mix 0:100",
        "device --read-only file --size 1MiB .",
        "device --access-pattern randread",
        "device --rw trim",
        "device --rw randread --rwmixread 70",
        "device --rwmixread 70",
        "device --rw randrw --rwmixread 170",
        "device --ioengine posixaio",
        "device --direct 2",
        "device --sync 1",
        "device --filename /dev/sda",
        "device --filename file --rw randwrite",
        "device --rw randread --lat_percentiles 1",
        "device --engine psync,io_uring",
        "device --iodepth 64..1",
        "device --runtime 30",
        "device --job x.fio",
    ] {
        scene.refused(line);
    }
    insta::assert_snapshot!(scene.transcript());
}
