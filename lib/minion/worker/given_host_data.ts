/**
 * The grains and pillar that each worker and process of a pool has: those of the minion, or those of the one of several
 * masters that gave its job.
 * @module
 */

import type { ValueMap } from "#lib/values/value.ts";
import type { JobHost } from "./job_host.ts";
import type { JobHosts } from "./job_hosts.ts";
import type { HostData } from "./job_protocol.ts";

/** The grains and pillar of one pool's workers and processes. */
export class GivenHostData {
  readonly #hosts: JobHosts;
  readonly #hostDataOf: ((load: ValueMap) => HostData | undefined) | undefined;
  /** What a host has, if it is not what it was started with. */
  readonly #given = new WeakMap<JobHost, HostData>();

  /** @param hostDataOf Those for a job, where they depend on its master. */
  constructor(hosts: JobHosts, hostDataOf?: (load: ValueMap) => HostData | undefined) {
    this.#hosts = hosts;
    this.#hostDataOf = hostDataOf;
  }

  /** Sends a host those of a job's master, unless it has them. */
  sendFor(load: ValueMap, host: JobHost): void {
    if (this.#hostDataOf === undefined) return;
    const hostData = this.#hostDataOf(load) ?? this.#hosts.hostData;
    if ((this.#given.get(host) ?? this.#hosts.hostData) === hostData) return;
    this.#send(hostData, host);
  }

  /** Sets those of the minion: for hosts that start from now on, and those that are there. */
  set(hostData: HostData, present: readonly JobHost[]): void {
    this.#hosts.hostData = hostData;
    for (const host of present) this.#send(hostData, host);
  }

  #send(hostData: HostData, host: JobHost): void {
    this.#given.set(host, hostData);
    host.send({ kind: "host_data", hostData });
  }
}
