//! Power cuts: what drives hold after one, and what the oracle says of it.

mod every;
mod honest;
mod kinds;
mod liars;
mod logged;
mod minimal_drive;
mod oracle;
mod outcomes;
mod policies;
mod tears;
