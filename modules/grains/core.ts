/**
 * Core grains: facts of the host that every minion reads itself, under Salt's names.
 *
 * Everything is read from files and from the runtime, in a few milliseconds; no process is started and no name looked
 * up. Differences to Salt are in the parts: `os.ts`, `hardware.ts`, `virtual.ts`, `network.ts`, `python.ts`. Source:
 * Salt 3008.3 `salt/grains/core.py`, `extra.py`, `minion_process.py`.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { HostFiles } from "#lib/programs/files.ts";
import { findGroup, findUser } from "#lib/os/users.ts";
import type { CoreGrains, CoreGrainsOpts, GrainHost } from "#lib/plugins/core_grains.ts";
import { LIBZMQ_VERSION, SALT_VERSION } from "#lib/version.ts";
import { hardwareGrains } from "./hardware.ts";
import { fqdnsGrain, networkGrains } from "./network.ts";
import { type Grains, osGrains } from "./os.ts";
import { pythonGrains } from "./python.ts";
import { timeZoneName } from "./time_zone.ts";
import { virtualGrains } from "./virtual.ts";

/** This host, as it is now. */
export function thisHost(): GrainHost {
  return { files: new HostFiles(), addresses: Deno.networkInterfaces() };
}

/** The core grains of a host. */
export function coreGrains(opts: CoreGrainsOpts, host: GrainHost = thisHost()): Grains {
  const { files, addresses } = host;
  const os = osGrains(files);
  const { virtual, ...virtualDetails } = virtualGrains(files);
  return {
    id: opts.id,
    master: opts.master,
    ...(opts.append_domain === null ? {} : { append_domain: opts.append_domain }),
    server_id: serverId(opts.id),
    ...machineId(files),
    ...os,
    ...hardwareGrains(files, { gpus: opts.enable_gpu_grains }),
    virtual,
    ...virtualDetails,
    ps: psCommand(os.os, virtual),
    ...networkGrains(files, addresses),
    ...processGrains(),
    ...environmentGrains(),
    locale_info: localeInfo(files),
    saltversion: SALT_VERSION,
    saltversioninfo: SALT_VERSION.split(".").map(Number),
    saltpath: decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, ""),
    zmqversion: LIBZMQ_VERSION,
    ca_truststore: trustStore(),
    denoversion: Deno.version.deno.split(".").map(Number),
    ...pythonGrains(files),
    transactional: files.program("transactional-update") !== undefined,
    package: null,
  };
}

/** Time limit of the resolver for `fqdns`, in milliseconds. */
const FQDNS_TIMEOUT_MS = 5_000;

/** The family `grains`, for a minion. */
export const CORE_GRAINS: CoreGrains = {
  read: coreGrains,
  async readNames({ addresses } = thisHost()) {
    // Loaded only when needed, since it brings Node's compatibility layer.
    const { reverse } = await import("node:dns/promises");
    return await fqdnsGrain(addresses, { lookUp: reverse, timeoutMs: FQDNS_TIMEOUT_MS });
  },
};

/** A number that follows from the id, as MySQL's replication wants one. */
function serverId(id: string): number {
  return Number(BigInt(`0x${hashHex(id, "sha256")}`) % 2n ** 31n);
}

function machineId(files: HostFiles): Grains {
  const machine_id = files.line("/etc/machine-id") || files.line("/var/lib/dbus/machine-id");
  return machine_id ? { machine_id } : {};
}

/** The command that `status.procs` runs. */
function psCommand(os: string, virtual: unknown): string {
  if (os === "MacOS") return "ps auxwww";
  if (virtual !== "openvzhn") return "ps -efHww";
  // The host of such containers sees their processes too, and leaves them out.
  const own = `grep -l "^envID:[[:space:]]*0\\$" /proc/[0-9]*/status | sed -e "s=/proc/\\([0-9]*\\)/.*=\\1="`;
  return `ps -fH -p $(${own})  | awk '{ $7=""; print }'`;
}

function processGrains(): Grains {
  const uid = Deno.uid(), gid = Deno.gid();
  const user = uid === null ? undefined : findUser(uid);
  return {
    cwd: Deno.cwd(),
    pid: Deno.pid,
    uid,
    gid,
    username: user?.name ?? "",
    groupname: user === undefined ? "" : findGroup(user.gid)?.name ?? "",
  };
}

function environmentGrains(): Grains {
  const path = (Deno.env.get("PATH") ?? "").trim();
  return { path, systempath: path.split(":"), shell: Deno.env.get("SHELL") ?? "/bin/sh" };
}

/** Salt's word for where trusted authorities come from: `certifi` is Mozilla's list, which Deno has in it. */
function trustStore(): string {
  const stores = (Deno.env.get("DENO_TLS_CA_STORE") ?? "").split(",").map((store) => store.trim());
  return stores.includes("system") && !stores.includes("mozilla") ? "os" : "certifi";
}

function localeInfo(files: HostFiles): Grains {
  const setting = Deno.env.get("LC_ALL") || Deno.env.get("LC_CTYPE") || Deno.env.get("LANG") || "C";
  const [language, encoding = "UTF-8"] = setting.split("@", 1)[0].split(".");
  return {
    // Python takes the plain locale for the American one in UTF-8.
    defaultlanguage: language === "C" || language === "POSIX" ? "en_US" : language,
    defaultencoding: encoding.toLowerCase() === "utf8" ? "UTF-8" : encoding,
    detectedencoding: "utf-8",
    timezone: timeZoneName(files, -new Date().getTimezoneOffset()),
  };
}
