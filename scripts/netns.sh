#!/bin/sh
# Three hosts on one machine: network namespaces with addresses of their own on one bridge.
#   scripts/netns.sh up            makes kn1, kn2, kn3 (10.77.0.1 to .3); needs root and iproute2
#   scripts/netns.sh down          removes them
#   scripts/netns.sh run ARGS...   mpirun over the three, by TCP; a rank a host, and then again
#   scripts/netns.sh rsh HOST COMMAND...   what mpirun starts its daemons with
set -eu
net=10.77.0
case "${1:-}" in
up)
    ip link add knbr0 type bridge
    ip link set knbr0 up
    for i in 1 2 3; do
        ip netns add "kn$i"
        ip link add "knv$i" type veth peer name eth0 netns "kn$i"
        ip link set "knv$i" master knbr0
        ip link set "knv$i" up
        ip -n "kn$i" addr add "$net.$i/24" dev eth0
        ip -n "kn$i" link set eth0 up
        ip -n "kn$i" link set lo up
        # "ip netns exec" lays this file over /etc/hosts inside the namespace only.
        mkdir -p "/etc/netns/kn$i"
        printf '127.0.0.1 localhost\n%s.1 kn1\n%s.2 kn2\n%s.3 kn3\n' $net $net $net \
            >"/etc/netns/kn$i/hosts"
    done
    ;;
down)
    for i in 1 2 3; do
        ip netns del "kn$i" 2>/dev/null || true
        rm -rf "/etc/netns/kn$i"
    done
    ip link del knbr0 2>/dev/null || true
    ;;
run)
    shift
    here=$(cd "$(dirname "$0")" && pwd)
    agent=$(mktemp)
    trap 'rm -f "$agent"' EXIT
    printf '#!/bin/sh\nexec "%s/netns.sh" rsh "$@"\n' "$here" >"$agent"
    chmod +x "$agent"
    root=""
    [ "$(id -u)" = 0 ] && root=--allow-run-as-root
    # shellcheck disable=SC2086
    ip netns exec kn1 unshare --uts sh -c 'hostname kn1; exec "$@"' sh \
        mpirun $root --host kn1:2,kn2:2,kn3:2 --map-by node \
        --mca plm rsh --mca plm_rsh_agent "$agent" --mca plm_rsh_no_tree_spawn 1 \
        --mca oob_tcp_if_include $net.0/24 --mca btl tcp,self \
        --mca btl_tcp_if_include $net.0/24 --mca pml ob1 --mca mpi_yield_when_idle 1 "$@"
    ;;
rsh)
    host=$2
    shift 2
    exec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"
    ;;
*)
    echo "usage: scripts/netns.sh up | down | run ARGS..." >&2
    exit 2
    ;;
esac
