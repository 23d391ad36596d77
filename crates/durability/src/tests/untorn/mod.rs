//! Verdicts on made stacks, against an oracle that takes each page's bytes to the drive.

mod cuts;
mod hostile;
mod lines;
mod live;
mod made;
mod matrix;
mod oracle;
