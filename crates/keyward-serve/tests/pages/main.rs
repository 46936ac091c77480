//! Every page in Chromium, over a real server with the keys of the Media Gateway.

mod hostile;
mod key;
mod keyboard;
mod live;
mod pictures;
mod several;
mod stage;
mod token;
mod whole;
