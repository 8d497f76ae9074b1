/**
 * Where the master's threads and the operator's commands find each other under `sock_dir`, and the users' keys.
 * @module
 */

import { readTextFileIfExists } from "../os/atomic_file.ts";
import { isMap, toValue } from "../values/value.ts";

/** Where MWorkers push loads to be published. */
export function publishPullPath(sockDir: string): string {
  return `${sockDir}/publish_pull.ipc`;
}

/** Where the key lies by which `user` proves to be that user. */
export function accessKeyPath(cachedir: string, user: string): string {
  return `${cachedir}/.${user.replaceAll(/[/\\]/g, "_")}_key`;
}

/** The ports that a master really listens on, which differ from its options where those say 0. */
export interface MasterPorts {
  /** Where jobs are published. */
  readonly publishPort: number;
  /** Where requests are taken. */
  readonly requestPort: number;
}

/** The file in which a running master leaves {@linkcode MasterPorts}. */
export function portsPath(sockDir: string): string {
  return `${sockDir}/ports.json`;
}

/** The ports of the master running on this `sock_dir`; `undefined` if none wrote any. */
export function readPorts(sockDir: string): MasterPorts | undefined {
  // An empty file is what a power failure may leave: the master before it is gone.
  const text = readTextFileIfExists(portsPath(sockDir)) || "null";
  const ports = toValue(JSON.parse(text));
  const publishPort = isMap(ports) ? ports.get("publish_port") : undefined;
  const requestPort = isMap(ports) ? ports.get("ret_port") : undefined;
  return typeof publishPort === "number" && typeof requestPort === "number" ? { publishPort, requestPort } : undefined;
}
