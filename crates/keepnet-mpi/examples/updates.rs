//! What one update costs over MPI: a read of the prediction and an add to it, by messages and
//! by window, for 1,000 to 100,000 rows.
//!
//! `mpirun -n 3 target/release/examples/updates [SECONDS]`: rank 0 is the centre, the others are
//! workers at it all the time. Prints rounds a second of all workers and microseconds a round.
//! Over TCP: `scripts/netns.sh up`, then `scripts/netns.sh run -n 3 $PWD/target/release/examples/updates`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use keepnet::select::substitution::asy_os::Centre;
use keepnet_mpi::messages::{HEAD, Messages, Wishes};
use keepnet_mpi::window::{Window, WindowCentre};
use keepnet_mpi::wire::{self, DELTA, Patience, READ, REPLY};
use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::traits::*;

fn rounds(centre: &mut impl Centre, n: usize, time: Duration) -> u64 {
    let (mut u, delta) = (vec![0.0; n], vec![1.0; n]);
    let (start, mut rounds) = (Instant::now(), 0);
    while start.elapsed() < time {
        let seen = centre.read(&mut u);
        centre.add(&delta, seen.updates);
        rounds += 1;
    }
    rounds
}

/// Rank 0: answers until every worker has said that it is through, by a read of length 1.
fn answer(n: usize, workers: usize) {
    let world = wire::world();
    let (mut reply, mut delta) = (vec![0.0; HEAD + n], vec![0.0; 1 + n]);
    let mut through = 0;
    let mut patience = Patience::default();
    while through < workers {
        let Some((message, envelope)) = world.any_process().immediate_matched_probe() else {
            patience.wait();
            continue;
        };
        patience.over();
        match envelope.tag() {
            READ => {
                message.matched_receive_into(&mut [0u8; 0][..]);
                world.process_at_rank(envelope.source_rank()).send_with_tag(&reply[..], REPLY);
            }
            DELTA => {
                message.matched_receive_into(&mut delta[..]);
                reply[HEAD..].iter_mut().zip(&delta[1..]).for_each(|(u, d)| *u += d);
            }
            _ => {
                message.matched_receive_into(&mut [0u8; 0][..]);
                through += 1;
            }
        }
    }
}

fn main() {
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Serialized) else { return };
    let world = universe.world();
    let (rank, workers) = (world.rank(), world.size() as usize - 1);
    let seconds: f64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(0.5);
    let time = Duration::from_secs_f64(seconds);
    for n in [1000usize, 10_000, 100_000] {
        for way in ["messages", "window"] {
            let wishes = Arc::new(Wishes::default());
            let window = match way {
                "window" => Some(Arc::new(Window::anywhere(n).expect("so few rows fit"))),
                _ => None,
            };
            world.barrier();
            let mut done = 0;
            match (&window, rank) {
                (None, 0) => answer(n, workers),
                (None, _) => {
                    done = rounds(&mut Messages::new(n, wishes), n, time);
                    world.process_at_rank(0).send_with_tag(&[0u8; 0][..], 99);
                }
                (Some(_), 0) => {}
                (Some(window), _) => {
                    done = rounds(&mut WindowCentre::new(Arc::clone(window), wishes), n, time);
                }
            }
            let mut all = 0u64;
            world.all_reduce_into(&done, &mut all, SystemOperation::sum());
            if let Some(window) = &window {
                window.close();
            }
            if rank == 0 {
                let each = 1e6 * seconds * workers as f64 / all.max(1) as f64;
                let rate = all as f64 / seconds;
                println!(
                    "n = {n}, {workers} worker(s), {way}: {rate:.0} rounds/s, {each:.1} us each"
                );
            }
        }
    }
}
