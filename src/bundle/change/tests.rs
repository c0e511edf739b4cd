use super::ChangeSet;

#[test]
fn an_empty_set_is_an_empty_patch() {
    assert_eq!(ChangeSet::default().patch(), "");
}
