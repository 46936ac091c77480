//! The commands that the documents show, run as they stand there.

use super::harness::{PATIENT, redis, running};
use keyward_testkit::{Flavor, stage};

#[test]
fn commands_about_the_application_print_what_is_shown() {
    stage::check("xeuz-cloud", || redis(Flavor::Redis), |server| running(&server.url(), &PATIENT));
}
