/**
 * The internet sockets of a process, as psutil's `net_connections` lists them.
 * Source: psutil 7.2 (documentation and results); proc(5), `net/tcp`, `net/udp`.
 * @module
 */

import { parseSocketTable } from "./tcp_table.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import type { Value } from "#lib/values/value.ts";

/** The parts of a process that are used. */
interface WithFiles {
  names(name: string): string[];
  link(name: string): string;
}

const TABLES = [
  { file: "tcp", family: 2, type: 1 },
  { file: "tcp6", family: 10, type: 1 },
  { file: "udp", family: 2, type: 2 },
  { file: "udp6", family: 10, type: 2 },
] as const;

/** The states of TCP, by their numbers. */
const STATES: readonly string[] = [
  "",
  "ESTABLISHED",
  "SYN_SENT",
  "SYN_RECV",
  "FIN_WAIT1",
  "FIN_WAIT2",
  "TIME_WAIT",
  "CLOSE",
  "CLOSE_WAIT",
  "LAST_ACK",
  "LISTEN",
  "CLOSING",
];

/**
 * `[fd, family, type, [address, port], [address, port], state]` of each socket; an unconnected end is an empty list.
 */
export function socketsOf(process: WithFiles): Value[] {
  const descriptors = new Map(
    process.names("fd").flatMap((fd): [string, number][] => {
      const inode = /^socket:\[(\d+)\]$/.exec(process.link(`fd/${fd}`))?.[1];
      return inode === undefined ? [] : [[inode, Number(fd)]];
    }),
  );
  return TABLES.flatMap(({ file, family, type }) =>
    parseSocketTable(readTextFileIfExists(`/proc/net/${file}`) ?? "").flatMap(({ local, remote, state, inode }) => {
      const fd = descriptors.get(inode);
      const end = ({ address, port }: typeof local) => port === 0 ? [] : [address, port];
      return fd === undefined ? [] : [[fd, family, type, end(local), end(remote), type === 1 ? STATES[state] : "NONE"]];
    })
  );
}
