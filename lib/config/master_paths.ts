/**
 * Paths that the master's threads and the operator's commands share: sockets and ports in `sock_dir`, and the users'
 * keys.
 * @module
 */

import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { ChangeNotes } from "#lib/os/change_notes.ts";
import { isMap, toValue } from "#lib/values/value.ts";

/** The socket that MWorkers push jobs to. */
export function publishPullPath(sockDir: string): string {
  return `${sockDir}/publish_pull.ipc`;
}

/** The file of the key that authenticates `user`. */
export function accessKeyPath(cachedir: string, user: string): string {
  return `${cachedir}/.${user.replaceAll(/[/\\]/g, "_")}_key`;
}

/** The ports that a master really listens on, which differ from its options if these are 0. */
export interface MasterPorts {
  /** Where jobs are published. */
  readonly publishPort: number;
  /** Where requests are taken. */
  readonly requestPort: number;
}

/** The file to which a running master writes {@linkcode MasterPorts}. */
export function portsPath(sockDir: string): string {
  return `${sockDir}/ports.json`;
}

/** The ports of the master running on this `sock_dir`; `undefined` if none wrote any. */
export function readPorts(sockDir: string): MasterPorts | undefined {
  // A power failure may leave an empty file: then its master is not running.
  const text = readTextFileIfExists(portsPath(sockDir)) || "null";
  const ports = toValue(JSON.parse(text));
  const publishPort = isMap(ports) ? ports.get("publish_port") : undefined;
  const requestPort = isMap(ports) ? ports.get("ret_port") : undefined;
  return typeof publishPort === "number" && typeof requestPort === "number" ? { publishPort, requestPort } : undefined;
}

/** The directory of the log of the master's events. */
export function eventLogDirectory(cachedir: string): string {
  return `${cachedir}/event_log`;
}

/** The directory of what the reactor keeps. */
export function reactorDirectory(cachedir: string): string {
  return `${cachedir}/reactor`;
}

/** The directory of what returners of the master keep. */
export function returnersDirectory(cachedir: string): string {
  return `${cachedir}/returners`;
}

/** The directory of what a master keeps of its cluster. */
export function clusterDirectory(cachedir: string): string {
  return `${cachedir}/cluster`;
}

/** Where changes of data are noted that the other masters of the cluster get; `undefined`: this master stands alone. */
export function changeNotes(
  { cluster_id, cachedir }: { readonly cluster_id: string | null; readonly cachedir: string },
): ChangeNotes | undefined {
  return cluster_id ? new ChangeNotes(`${clusterDirectory(cachedir)}/changes`) : undefined;
}
