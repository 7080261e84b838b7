//! Filesystems, their factors and data that cannot be measured.

use super::scene::Scene;

#[test]
fn filesystems_and_their_factors_are_refused_before_an_image_is_created() {
    let mut scene = Scene::new();
    scene.file("small", [b' '; 100]);
    for line in [
        "filesystem --filesystem ntfs",
        "filesystem --filesystem 'ext4 zstd:3'",
        "filesystem --compression zstd:99",
        "filesystem --filesystem ext4 --compression zstd:3",
        "filesystem --filesystem squashfs --block-size 5k",
        "filesystem --filesystem erofs --cluster-size 3k",
        "filesystem --compress-policy sometimes",
        "filesystem --checksum md5",
        "filesystem --copy-on-write maybe",
        "filesystem --copy-on-write off --compression zstd:3",
        "filesystem --filesystem xfs --thread-pool 4",
        "filesystem --operation trim",
        "filesystem --filesystem squashfs --operation overwrite",
        "filesystem --page-cache lukewarm",
        "filesystem --access mapped",
        "filesystem --sync each",
        "filesystem --age old",
        "filesystem --io-block-size 3000",
        "filesystem --files 0",
        "filesystem --jobs 0",
        "filesystem --queue-depth 0",
        "filesystem --queue-depth 8",
        "filesystem --engine libaio",
        "filesystem --engine noop",
        "filesystem --arrival poisson",
        "filesystem --rate fast",
        "filesystem --sample-size 1k",
        "filesystem --data missing",
        "filesystem --data small",
        "filesystem --directory missing",
        "filesystem --directory small",
        "filesystem --directory . --filesystem btrfs",
        "filesystem --directory . --operation small-files",
        "filesystem /no/such/place --seed 1",
    ] {
        scene.refused(line);
    }
    insta::assert_snapshot!(scene.transcript());
}
