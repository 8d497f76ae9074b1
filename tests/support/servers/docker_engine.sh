#!/bin/sh
# Docker's engine and two registries, in namespaces of their own, until they are ended. The argument is their directory.
# localhost:5000 takes images of everybody, localhost:5001 only those of the user salt, whose password is secret.
#   unshare --mount --net --pid --fork --kill-child --mount-proc sh docker_engine.sh DIRECTORY
set -e
dir=$1
ip link set lo up
# Without it the engine warns of each container.
echo 1 >/proc/sys/net/ipv4/ip_forward
registry() {
  printf 'version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: %s\n  delete:\n    enabled: true\nhttp:\n  addr: 127.0.0.1:%s\n%s' \
    "$dir/registry$1" "$1" "$2" >"$dir/registry$1.yml"
  docker-registry serve "$dir/registry$1.yml" >"$dir/registry$1.log" 2>&1 &
}
# The password, hashed by bcrypt.
echo 'salt:$2y$05$saltsaltsaltsaltsaltsuuUNyxhuTgnbJVXtP9jFAAs9Cm9Wqw5u' >"$dir/users"
if command -v docker-registry >/dev/null; then
  registry 5000 ''
  registry 5001 "$(printf 'auth:\n  htpasswd:\n    realm: test\n    path: %s\n' "$dir/users")"
fi
dockerd --data-root "$dir/data" --exec-root "$dir/exec" --pidfile "$dir/pid" --host "unix://$dir/docker.sock" \
  --storage-driver vfs --iptables=false --ip6tables=false --ip-forward=false >"$dir/engine.log" 2>&1
