//! Substitution: a newcomer takes the place of the kept feature that matters least.

pub mod asy_os;
pub mod os;
pub mod os_plus;

/// The methods of this folder, in the order of the registry.
pub(crate) const METHODS: &[&crate::registry::MethodInfo] =
    &[&os_plus::INFO, &os::INFO, &asy_os::INFO];
