/**
 * Lines that no test can reach, in code that reads or changes the host.
 * @module
 */

import { ALWAYS_THERE, type CoverageRule, NO_MEMORY, OTHER_SYSTEM, RACE } from "./rule.ts";

/** See {@linkcode CoverageRule}. */
export const HOST_RULES: readonly CoverageRule[] = [
  { path: "lib/crypto/libcrypto.ts", line: /return null;/, why: "a host without OpenSSL" },
  {
    path: "lib/crypto/openssl_rsa.ts",
    line: /=== null\) return (undefined|null);/,
    why: "a host without OpenSSL, or without memory",
  },
  { path: "lib/crypto/sealing.ts", line: /=== null\) return null;/, why: "a host without OpenSSL" },
  {
    path: "lib/crypto/sealing.ts",
    line: /OpenSSL does not (en|de)crypt/,
    why: "an OpenSSL that fails for want of memory",
  },
  {
    path: "lib/crypto/rsa.ts",
    line: /throw needsOpenssl\(8 \* this\.publicKey\.size\)/,
    why: "a host without OpenSSL",
  },
  {
    path: "lib/crypto/rsa.ts",
    line: /if \(error\) reject\(error\);/,
    why: "the making of a key that fails for want of memory",
  },
  { path: "lib/api/calls/ssh_calls.ts", line: /which\("ssh"\) === undefined/, why: "a host without ssh" },
  { path: "lib/keys/rules.ts", line: /if \(rule === undefined\) throw/, why: ALWAYS_THERE },
  { path: "lib/procfs/processes.ts", line: /return \[\];/, why: RACE },
  {
    path: "lib/keys/sessions.ts",
    line: /=== undefined\) (throw|return undefined)/,
    why: RACE,
  },
  { path: "lib/procfs/process_facts.ts", line: /fromPs|"-axo"/, why: OTHER_SYSTEM },
  { path: "lib/runtime/pid_file.ts", line: /"ps"/, why: OTHER_SYSTEM },
  { path: "lib/libc/libc.ts", line: /pointer === null/, why: NO_MEMORY },
  { path: "lib/libc/", line: /^if \(!(\w*xattr|epoll_create1)\b.*\) (throw|return)/, why: OTHER_SYSTEM },
  {
    path: "lib/os/held_path.ts",
    line: /links === MAX_LINKS/,
    why: "links that another user adds while they are followed: the kernel refuses so many that are there before",
  },
  { path: "lib/os/held_path.ts", line: /^return false;/, why: "a host without /proc" },
  { path: "lib/os/moment.ts", line: /return "";/, why: "a system that does not name its boot" },
  { path: "lib/os/journal.ts", line: /!SYNCS_FILE_SYSTEMS/, why: OTHER_SYSTEM },
  { path: "lib/libc/sync.ts", line: /syncfs\(fd\) !== 0/, why: "a disk that fails" },
  {
    path: "lib/libc/udp.ts",
    line: /LibcError\("(socket|setsockopt)"\)/,
    why: "a process without a free descriptor, and a system that knows no broadcasts",
  },
  {
    path: "lib/libc/crypt.ts",
    line: /^return undefined;$|pointer === null/,
    why: "a host without libcrypt, or with one that has no memory",
  },
  { path: "lib/host/accounts/password_hash.ts", line: /^throw new CommandError\($/, why: "a host without libcrypt" },
  {
    path: "lib/host/filesystem/attributes.ts",
    line: /^if \(which\("chcon"\) === undefined\) throw/,
    why: "a host without chcon, which is looked for in the usual directories whatever PATH is",
  },
  {
    path: "lib/schedule/loop_clock.ts",
    line: /LONGEST_SLEEP_MS|new TimeoutClock/,
    why: "another system than Linux, or a C library that cannot be opened",
  },
  {
    path: "lib/schedule/cron.ts",
    line: /instanceof TypeError/,
    why: "what is translated croner reads; it says by an error what it does not",
  },
  {
    path: "lib/libc/netlink.ts",
    line: /size < HEAD/,
    why: "a kernel that sends half a message",
  },
  { path: "lib/procfs/tcp_table.ts", line: /no IPv6/, why: "a host without IPv6" },
  { path: "lib/host/network/link_settings.ts", line: /^return addressText\(/, why: "a host with IPv6" },
  {
    path: "lib/host/network/link_settings.ts",
    line: /length < 4|NETLINK_TYPES\.error/,
    why: "a kernel that lists no interfaces, or sends half an attribute",
  },
  {
    path: "lib/host/filesystem/ownership.ts",
    line: /^if \(held\.path === path\)/,
    why: "root, as whom the tests run, holds what it changes",
  },
  {
    path: "lib/host/mongodb/client.ts",
    line: /^if \(!\(document instanceof Uint8Array\)\) throw/,
    why: "the library's types do not say that raw documents are bytes",
  },
  { path: "lib/host/archives/zip_writing.ts", line: /ZIP64 (support|limit)/, why: "an archive of more than 4 GiB" },
  { path: "lib/host/network/http_request.ts", line: /size > MAX_BODY/, why: "a body of more than 256 MiB" },
];
