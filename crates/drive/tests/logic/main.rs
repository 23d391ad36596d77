//! Behavior of the models, beside what is known of such drives, and of any plan that can be.

mod any_plan;
mod array;
mod barriers;
mod cloud;
mod disk;
mod first_512e;
mod flash;
mod flash_garbage;
mod flash_queue;
mod memory;
mod memory_growth;
mod power;
mod published;
mod real_drives;
mod shared;
mod theory;
mod turns;
