#!/bin/sh
# @NAME@ @VERSION@, for @TARGET@.
#
# This file is a program: the script that you read, and behind it a gzipped tar archive of Deno, the programs' scripts and
# libzmq. At the first start the archive is unpacked into a directory named by its checksum; every start runs from
# there. It needs nothing but a POSIX shell, ls, id, mkdir, mv, rm, tail, gzip, tar, and sha256sum or shasum if it is
# there.
#
# Unpacked below: $SALT_UNPACK_DIR if it is set, else /var/lib/salt-deno for root, and for others
# ${XDG_CACHE_HOME:-$HOME/.cache}/salt-deno, or /var/tmp/salt-deno-<uid> where that cannot be written.
set -uf

entry='@ENTRY@'
flags='@FLAGS@'
release='@RELEASE@'
sum='@SUM@'

fail() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 1
}

# Whether $1 is a directory of ours or of root's into which nobody else can write.
trusted() {
  [ -d "$1" ] || return 1
  set -- "$1" $(ls -ldn "$1")
  [ "$4" = "$uid" ] || [ "$4" = 0 ] || return 1
  case $2 in
    l*) trusted "$1/" ;;
    d????w* | d???????w*) return 1 ;;
  esac
}

# Whether $1 and every directory above it, as far as they are there, are root's, and others may rename nothing in them.
climb() {
  path=${1%/}
  while [ -n "$path" ] && [ ! -e "$path" ] && [ ! -L "$path" ]; do path=${path%/*}; done
  set -- "${path:-/}"
  while [ -n "$path" ]; do
    path=${path%/*}
    set -- "$@" "${path:-/}"
  done
  # One command for all of them: each takes a millisecond of every start.
  found=$(ls -ldnL "$@" 2>/dev/null) || return 1
  while read -r mode _ owner _; do
    [ "$owner" = 0 ] || return 1
    case $mode in
      d????????[tT]*) ;;
      d????w* | d???????w*) return 1 ;;
    esac
  done <<EOF
$found
EOF
}

# Whether root alone decides which directory the path $1 is, links and all: else another's could take its place.
rooted() {
  set -- "${1%/}"
  climb "${1%/*}" || return 1
  [ -d "$1" ] || return 0
  set -- "$1" "$(cd -P "$1" && pwd -P)"
  [ "$1" = "$2" ] || climb "${2%/*}"
}

usable() {
  trusted "$1" && [ -x "$1/deno" ] && [ -f "$1/$entry" ]
}

payload() {
  tail -c +@OFFSET@ "$self"
}

checksum() {
  if command -v sha256sum >/dev/null 2>&1; then payload | sha256sum
  elif command -v shasum >/dev/null 2>&1; then payload | shasum -a 256
  else payload | gzip -t && printf '%s\n' "$sum"
  fi
}

# Unpacks below $1, or says why not. Whoever comes second when two do so at once throws the own copy away.
unpack() (
  base=$1
  new=$base/.$release.$$
  if [ "$uid" = 0 ]; then umask 022; else umask 077; fi
  mkdir -p "$base" 2>/dev/null || { printf 'cannot make %s' "$base"; exit 1; }
  trusted "$base" || { printf 'others may write to %s, or it is not yours' "$base"; exit 1; }
  mkdir "$new" 2>/dev/null || { printf 'cannot write to %s' "$base"; exit 1; }
  trap 'rm -rf "$new"' EXIT
  trap 'exit 1' HUP INT TERM
  # At the same time as the archive is unpacked, as each takes a while; nothing of it is used before both are done.
  checksum >"$new/.sum" 2>/dev/null &
  unpacked=1
  payload | gzip -dc | (cd "$new" && tar -xof -) || unpacked=
  wait $!
  read -r found <"$new/.sum" || found=
  case $found in "$sum"*) ;; *) printf 'the file %s is damaged: its checksum is wrong' "$self"; exit 1 ;; esac
  [ "$unpacked" ] || { printf 'cannot unpack into %s' "$base"; exit 1; }
  # What is compiled only makes the starts faster: without it they are slower.
  place || "$new/deno" --version >/dev/null 2>&1 || {
    printf 'Deno does not run from %s: this file is for @TARGET@, and programs must be allowed there' "$base"
    exit 1
  }
  rm -rf "$new/.sum" "$new/.deno"
  usable "$base/$release" && exit 0
  if [ -e "$base/$release" ]; then mv "$base/$release" "$new/broken"; fi
  mv "$new" "$base/$release" || { printf 'cannot make %s' "$base/$release"; exit 1; }
  # If another made it in between, ours now lies inside.
  rm -rf "$base/$release/${new##*/}" "$base/$release/broken"
)

# Gives what V8 has compiled of the scripts in $new to their later directory. Deno has databases of its own meanwhile.
place() {
  DENO_DIR=$new/.deno DENO_NO_UPDATE_CHECK=1 "$new/deno" run --allow-all --quiet --no-prompt --cached-only --no-lock \
    --config "$new/deno.json" "$new/@PLACE_SCRIPT@" "$new/cache" "$base/$release" </dev/null >/dev/null 2>&1
}

# Becomes Deno, with the script $1 in $home and the words that follow.
become_deno() {
  script=$1
  shift
  export DENO_DIR="$home/cache" DENO_NO_UPDATE_CHECK=1
  exec "$home/deno" run --allow-all --quiet --no-prompt --cached-only --no-lock --v8-flags="$flags" \
    --config "$home/deno.json" "$home/$script" "$@"
}

# Sets $uid. Linux tells it without a command to start.
find_uid() {
  while read -r key _ effective _; do
    [ "$key" != Uid: ] || { uid=$effective && return; }
  done 2>/dev/null </proc/self/status
  uid=$(id -u)
}

# Sets $home to the unpacked directory; the directories to unpack into are given in the order of preference.
find_home() {
  for base; do
    home=$base/$release
    if usable "$home"; then return; fi
  done
  reasons=
  for base; do
    home=$base/$release
    # To a person who waits; what reads standard error is not told.
    [ ! -t 2 ] || printf '%s: unpacking into %s, once for this user; this takes some seconds\n' "${0##*/}" "$base" >&2
    if reason=$(unpack "$base" 2>/dev/null); then
      usable "$home" && return
      reason="cannot trust what lies in $home"
    fi
    reasons="$reasons${reasons:+; }$reason"
  done
  fail "$reasons. Set SALT_UNPACK_DIR to a directory of your own to unpack into."
}

# The path that was called, links and all: the name decides which program this is.
case $0 in
  /*) self=$0 ;;
  */*) self=$(cd "${0%/*}" && pwd)/${0##*/} ;;
  *) self=$(command -v "$0") || self=$0
    case $self in /*) ;; *) self=$(pwd)/$self ;; esac ;;
esac

# A command that shares the file with a service has a script of its own, and flags of its own.
case ${0##*/} in
  @COMMAND@) entry='@COMMAND_SCRIPT@' flags='@COMMAND_V8_FLAGS@' ;;
esac

# This alone needs neither the command's options nor the rest of its script.
case $#${1-} in
  1--version)
    entry='@VERSION_SCRIPT@' flags='@COMMAND_V8_FLAGS@'
    case ${0##*/} in
      @NAMES@) set -- "${0##*/}" ;;
      *) set -- '@NAME@' ;;
    esac
    ;;
esac

find_uid && command -v ls >/dev/null || fail "cannot find the system's commands; PATH is ${PATH:-empty}"
if [ -n "${SALT_UNPACK_DIR:-}" ]; then
  case $SALT_UNPACK_DIR in /*) ;; *) fail "SALT_UNPACK_DIR is not an absolute path: $SALT_UNPACK_DIR" ;; esac
  [ "$uid" != 0 ] || rooted "$SALT_UNPACK_DIR" ||
    fail "SALT_UNPACK_DIR lies in a directory that others than root can change: $SALT_UNPACK_DIR"
  find_home "$SALT_UNPACK_DIR"
elif [ "$uid" = 0 ]; then find_home /var/lib/salt-deno
elif [ -n "${XDG_CACHE_HOME:-${HOME:-}}" ]; then
  find_home "${XDG_CACHE_HOME:-$HOME/.cache}/salt-deno" "/var/tmp/salt-deno-$uid"
else find_home "/var/tmp/salt-deno-$uid"
fi

export SALT_EXECUTABLE="$self"
become_deno "$entry" "$@"
