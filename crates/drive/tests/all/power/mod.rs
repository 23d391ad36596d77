//! Power cuts: what drives hold after one, and what the oracle says of it.

mod every;
mod honest;
mod kinds;
mod letter;
mod liars;
mod logged;
mod oracle;
mod outcomes;
mod policies;
mod tears;
