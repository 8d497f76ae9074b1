/**
 * What the family `grains` of modules gives a minion: facts of its host. `lib/minion/agent/grains.ts` adds the
 * operator's.
 * @module
 */

import type { MinionOpts } from "#lib/config/options.ts";
import type { HostFiles } from "#lib/programs/files.ts";

/** Grains by name, before they are values of Salt. */
type PlainGrains = Readonly<Record<string, unknown>>;

/** The options that core grains depend on. */
export type CoreGrainsOpts = Pick<MinionOpts, "id" | "master" | "append_domain" | "enable_gpu_grains">;

/** An address of an interface, as `Deno.networkInterfaces` gives it. */
export type GrainAddress = Pick<Deno.NetworkInterfaceInfo, "name" | "family" | "address" | "mac">;

/** What is looked at. */
export interface GrainHost {
  /** Where files are read. */
  readonly files: HostFiles;
  /** The addresses of its interfaces. */
  readonly addresses: readonly GrainAddress[];
}

/** Reads the core grains of this host; tests name another. */
export interface CoreGrains {
  /** All but `fqdns`: from files and from the runtime, in a few milliseconds. */
  readonly read: (opts: CoreGrainsOpts, host?: GrainHost) => PlainGrains;
  /** `fqdns`: the names that the resolver has for the host's addresses. The one grain that asks the network. */
  readonly readNames: (host?: GrainHost) => Promise<PlainGrains>;
}
