//! Behavior of the models, beside what is known of such drives, and of any plan that can be.

mod any_plan;
mod array;
mod barriers;
mod cloud;
mod disk;
mod first_512e;
mod flash;
mod memory;
mod power;
mod published;
mod shared;
mod turns;
