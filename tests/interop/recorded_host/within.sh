# Runs its words twice in a root directory that is this host's with a layer above it, then lists what the layer holds.
# $HOME_OF: a scratch directory with `repository` and `recorded`; it is /mnt/home in there. To be run in namespaces of its own.
set -e
layers=$HOME_OF/layers
mkdir -p "$layers"
mount -t tmpfs layers "$layers"
mkdir "$layers/upper" "$layers/work" "$layers/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$layers/upper,workdir=$layers/work" "$layers/root"
root=$layers/root

# The kernel is not to be changed: its parameters can be read, its devices are the harmless ones.
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t tmpfs devices "$root/dev"
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir -p "$root/run/systemd/system" "$root/sys/kernel/mm/transparent_hugepage" "$root/mnt/home"
mount --bind "$HOME_OF" "$root/mnt/home"
# What the programs need and the layered file system does not show: other disks.
for directory in $VISIBLE; do
  [ -e "$root$directory" ] && [ -n "$(ls -A "$root$directory")" ] && continue
  mkdir -p "$root$directory"
  mount --rbind "$directory" "$root$directory"
done

# A host with no packages but those of the test's repository, and with recorded programs.
cp "$HOME_OF"/recorded/systemctl "$HOME_OF"/recorded/systemd-run "$HOME_OF"/recorded/timedatectl "$root/usr/bin/"
cp "$HOME_OF"/recorded/sysctl "$root/usr/sbin/sysctl"
rm -f "$root/usr/sbin/hwclock" "$root/sbin/hwclock"
: > "$root/var/lib/dpkg/status"
rm -rf "$root"/etc/apt/sources.list.d/* "$root"/etc/apt/apt.conf.d/* "$root"/etc/apt/preferences.d/* "$root"/var/lib/dpkg/info/*
echo 'deb [trusted=yes] file:/mnt/home/repository ./' > "$root/etc/apt/sources.list"
echo 'APT::Sandbox::User "root";' > "$root/etc/apt/apt.conf"
rm -rf "$root"/var/lib/apt/lists/*

for run in 1 2; do
  chroot "$root" "$@" > "$HOME_OF/out.$run" 2> "$HOME_OF/err.$run" < /dev/null || echo "$?" > "$HOME_OF/code.$run"
done

cp "$root/var/lib/recorded-systemd/calls" "$HOME_OF/calls"
cd "$layers/upper"
find . -mindepth 1 \( -type f -printf '%P %y %m %U:%G ' -exec sh -c 'sha256sum < "$1"' - '{}' ';' \) -o -printf '%P %y %m %U:%G %l\n' |
  sort > "$HOME_OF/tree"
