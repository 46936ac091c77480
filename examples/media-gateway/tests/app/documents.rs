//! The commands that the documents show, run as they stand there.

use super::harness::{running, server};
use keyward_testkit::{Flavor, stage};

#[test]
fn commands_about_the_application_print_what_is_shown() {
    stage::check("media-gateway", || server(Flavor::Redis), |server| running(Some(server)));
}
