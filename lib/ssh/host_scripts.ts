/**
 * The command lines that run on hosts. Each is a fixed script of a POSIX shell, whose values are words behind it: no
 * value is ever part of a script. What a script tells is a line that begins with the session's mark, which is random:
 * whatever a host writes before it (banners, what its shell's files print) is not taken for it.
 * @module
 */

import type { RosterHost } from "./roster.ts";
import { quoteShellWord } from "#lib/text/shell_words.ts";

/** Where the executable is on a host. */
export interface HostPlace {
  /** The directory, of mode 0700. */
  readonly directory: string;
  /** Name of the file, which has its checksum. */
  readonly file: string;
}

/** Refuses a directory that another user may have made. `$2` is the directory. */
const IS_OURS = '[ -d "$2" ] && [ ! -L "$2" ] && [ -O "$2" ]';

/** The search path of the roster. `$4` is it. */
const TAKE_PATH = '[ -z "$4" ] || { PATH=$4; export PATH; }';

/** Begins the executable, or tells the host's system and machine. Words: mark, directory, file, path, umask. */
const START = [
  "stty raw -echo 2>/dev/null",
  TAKE_PATH,
  `if [ -e "$2" ] && ! { ${IS_OURS}; }; then printf "\\n%s fail %s\\n" "$1" "$2 is not a directory of this user"; exit 1; fi`,
  'if [ -f "$2/$3" ] && [ ! -x "$2/$3" ]; then printf "\\n%s noexec %s\\n" "$1" "$2"; exit 1; fi',
  'if [ ! -f "$2/$3" ]; then printf "\\n%s need %s %s\\n" "$1" "$(uname -s)" "$(uname -m)"; exit 0; fi',
  'if [ -n "$5" ]; then umask "$5"; fi',
  "SALT_UNPACK_DIR=$2",
  "export SALT_UNPACK_DIR",
  'exec "$2/$3" --as salt-ssh-host "$1" "$2"',
].join("; ");

/**
 * Takes the executable from its input. It has another name until it is complete and its checksum is right.
 * Words: mark, directory, file, path, size in bytes, SHA-256.
 */
const RECEIVE = [
  "stty raw -echo 2>/dev/null",
  TAKE_PATH,
  'say() { printf "\\n%s %s %s\\n" "$1" "$2" "$3"; }',
  "m=$1",
  "umask 077",
  'mkdir -p "$2" 2>/dev/null || { say "$m" fail "$2 cannot be made"; exit 1; }',
  `{ ${IS_OURS}; } || { say "$m" fail "$2 is not a directory of this user"; exit 1; }`,
  'chmod 700 "$2"',
  "t=$2/.$3.$$",
  "trap 'rm -f \"$t\"' EXIT",
  // Of a connection that is cut the output is closed, too: a shell that a signal ends runs no trap.
  "trap '' PIPE",
  "trap 'exit 1' HUP INT TERM",
  'k=$(df -Pk "$2" 2>/dev/null | { read -r _; read -r _ _ _ k _; echo "$k"; })',
  'case $k in ""|*[!0-9]*) ;; *) if [ "$k" -lt "$(($5 / 1024 + 1))" ]; then say "$m" fail "no space left in $2: $k KB"; exit 1; fi ;; esac',
  'say "$m" send now',
  'head -c "$5" >"$t" 2>/dev/null || { say "$m" fail "$2 cannot be written, or is full"; exit 1; }',
  'n=$(wc -c <"$t")',
  'if [ "$n" -ne "$5" ]; then say "$m" fail "only $n bytes of $5 arrived"; exit 1; fi',
  'if command -v sha256sum >/dev/null 2>&1; then c=$(sha256sum <"$t"); elif command -v shasum >/dev/null 2>&1; then c=$(shasum -a 256 <"$t"); else c=$6; fi',
  'if [ "${c%% *}" != "$6" ]; then say "$m" fail "the checksum is wrong"; exit 1; fi',
  'chmod 700 "$t"',
  'if [ ! -x "$t" ]; then say "$m" noexec "$2"; exit 1; fi',
  'mv -f "$t" "$2/$3" || { say "$m" fail "$2/$3 cannot be made"; exit 1; }',
  'for o in "$2"/salt-minion-*; do if [ "$o" != "$2/$3" ]; then rm -f "$o"; fi; done',
  // What a broken connection left an hour ago; a younger one may be another's that is still coming.
  'find "$2" -maxdepth 1 -name ".salt-minion-*" -mmin +60 -exec rm -f {} + 2>/dev/null',
  'say "$m" done "$3"',
].join("; ");

/** Removes the directory if it is this user's. Words: mark, directory, file, path. */
const REMOVE = `${TAKE_PATH}; if [ -e "$2" ]; then { ${IS_OURS}; } && rm -rf "$2"; fi; printf "\\n%s done .\\n" "$1"`;

/** Adds a line to the user's keys. Words: mark, key. */
const ADD_KEY = [
  "umask 077",
  "f=$HOME/.ssh/authorized_keys",
  'mkdir -p "$HOME/.ssh" 2>/dev/null',
  // The last line may have no end.
  'if [ -s "$f" ] && [ -n "$(tail -c 1 "$f")" ]; then echo >>"$f"; fi',
  'if grep -qxF -- "$2" "$f" 2>/dev/null || printf "%s\\n" "$2" >>"$f"; then printf "\\n%s done key\\n" "$1"; else printf "\\n%s fail %s\\n" "$1" "$f cannot be written"; fi',
].join("; ");

/** Says whether the directory is there. Words: mark, directory, file, path. */
const LOOK = 'if [ -d "$2" ]; then printf "\\n%s there .\\n" "$1"; else printf "\\n%s absent .\\n" "$1"; fi';

/**
 * Runs a script that comes by its input, and is removed when it has ended. Words: mark, size in bytes, and those of the
 * script.
 */
const PRE_FLIGHT = [
  "u=$(umask)",
  "umask 077",
  't=$(mktemp "${TMPDIR:-/tmp}/.salt-pre-XXXXXX") || exit 1',
  "trap 'rm -f \"$t\"' EXIT",
  "trap 'exit 1' HUP INT TERM",
  'head -c "$2" >"$t" || exit 1',
  'if [ "$(wc -c <"$t")" -ne "$2" ]; then exit 1; fi',
  "shift 2",
  'umask "$u"',
  '/bin/sh "$t" "$@" </dev/null',
].join("; ");

/** The command that says whether the directory of the executable is there. */
export function lookCommand(host: RosterHost, { directory, file }: HostPlace, mark: string): string {
  return shellCommand(host, LOOK, [mark, directory, file, host.setPath]);
}

/** The command that takes a script and runs it, as the user who signs in. */
export function preFlightCommand(
  host: RosterHost,
  { mark, size }: { readonly mark: string; readonly size: number },
): string {
  return shellCommand({ ...host, sudo: false }, PRE_FLIGHT, [mark, String(size), ...host.preFlightArgs]);
}

/** The command that adds a public key to the user's keys. */
export function keyCommand(host: RosterHost, key: string, mark: string): string {
  return shellCommand(host, ADD_KEY, [mark, key]);
}

/** The command that begins the executable. */
export function startCommand(host: RosterHost, { directory, file }: HostPlace, mark: string): string {
  const umask = host.cmdUmask === null ? "" : host.cmdUmask.toString(8).padStart(3, "0");
  return shellCommand(host, START, [mark, directory, file, host.setPath, umask]);
}

/** The command that takes the executable. */
export function receiveCommand(
  host: RosterHost,
  { directory, file }: HostPlace,
  { mark, size, sum }: { readonly mark: string; readonly size: number; readonly sum: string },
): string {
  return shellCommand(host, RECEIVE, [mark, directory, file, host.setPath, String(size), sum]);
}

/** The command that removes what was copied to the host. */
export function removeCommand(host: RosterHost, { directory, file }: HostPlace, mark: string): string {
  return shellCommand(host, REMOVE, [mark, directory, file, host.setPath]);
}

/** The command line of `-r`: the operator's words, each a word there; a single word is a command line itself. */
export function rawCommand(words: readonly string[]): string {
  return words.length === 1 ? words[0] : words.map(quoteShellWord).join(" ");
}

/** What sudo asks for a password with: a text that nothing else writes. */
export function sudoPrompt(mark: string): string {
  return `${mark}:sudo `;
}

/** A script for the user that functions run as. The first of the words is the mark. */
function shellCommand(host: RosterHost, script: string, words: readonly string[]): string {
  const become = host.sudo
    ? ["sudo", "-S", "-p", sudoPrompt(words[0]), ...host.sudoUser === "" ? [] : ["-u", host.sudoUser], "--"]
    : [];
  return [...become, "/bin/sh", "-c", script, "salt-ssh", ...words].map(quoteShellWord).join(" ");
}
