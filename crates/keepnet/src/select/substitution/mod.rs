//! Substitution: a newcomer takes the place of the kept feature that matters least.

pub mod asy_os;
pub mod os;
pub mod os_plus;
