//! Column files, tables and queries that cannot be.

use super::scene::Scene;
use crate::harness::outcrop;

#[test]
fn columns_are_refused_with_what_there_is() {
    let mut scene = Scene::new();
    scene.file(
        "table.csv",
        "id,city,status\n1,Lisbon,paid\n2,Porto,open\n3,Lisbon,paid\n",
    );
    scene.file("ragged.csv", "id,city\n1,Lisbon\n2\n3,Porto\n");
    scene.file("lines.txt", "slate\nslate\nshale\n");
    scene.file("empty.txt", "");
    scene.file("bytes.ocol", [7; 4096]);
    let made = outcrop(
        scene.dir(),
        &["column", "encode", "lines.txt", "-o", "lines.ocol"],
    );
    assert_eq!(made.code, Some(0), "{made:?}");
    let mut whole = std::fs::read(scene.dir().join("lines.ocol")).unwrap();
    scene.file("cut.ocol", &whole[..whole.len() / 2]);
    let middle = whole.len() / 2;
    whole[middle] ^= 0x55;
    scene.file("damaged.ocol", whole);
    for line in [
        "column encode missing.csv -o x.ocol",
        "column encode table.csv -o x.ocol",
        "column encode table.csv --column town -o x.ocol",
        "column encode table.csv --column 9 -o x.ocol",
        "column encode table.csv --column all -o x.ocol",
        "column encode table.csv --column city,status -o x.ocol",
        "column encode table.csv --column city --delimiter ab -o x.ocol",
        "column encode table.csv --column city --delimiter ';' -o x.ocol",
        "column encode ragged.csv --column city -o x.ocol",
        "column encode lines.txt -o /no/such/folder/x.ocol",
        "column encode lines.txt --profile tiny -o x.ocol",
        "column encode lines.txt --index all -o x.ocol",
        "column encode lines.txt --threads 0 -o x.ocol",
        "column find lines.ocol",
        "column find missing.ocol slate",
        "column find table.csv slate",
        "column find bytes.ocol slate",
        "column find cut.ocol slate",
        "column find lines.ocol --regex '(' ",
        "column find lines.ocol --hex xyz",
        "column find lines.ocol slate --prefix s",
        "column get lines.ocol 100",
        "column info cut.ocol",
        "column verify damaged.ocol",
        "column decode bytes.ocol",
        "column append table.csv lines.ocol",
        "column compact missing.ocol",
        "column compact lines.ocol -o lines.ocol",
        "column compact lines.ocol --in-place --index only",
    ] {
        scene.refused(line);
    }
    insta::assert_snapshot!(scene.transcript());
}
