/**
 * The versions of this project and of everything it uses: `--versions-report` and `test.versions_information`.
 * @module
 */

import configuration from "../../deno.json" with { type: "json" };
import { HostFiles } from "./files.ts";
import { LICENSE, SALT_VERSION, VERSION } from "#lib/version.ts";

/** Versions by section and by name, as Salt's `test.versions_information` groups them. */
export type Versions = Record<string, Record<string, string>>;

/** The versions of Salt, the runtime, the libraries and the system. Loads libzmq. */
export async function versionsInformation(): Promise<Versions> {
  return {
    "Salt Version": { "Salt": VERSION, "Compatible with": SALT_VERSION, "License": LICENSE },
    "Runtime Version": { "Deno": Deno.version.deno, "TypeScript": Deno.version.typescript, "V8": Deno.version.v8 },
    "Dependency Versions": {
      "js-yaml": packageVersion("js-yaml"),
      "libzmq": await loadedLibzmqVersion(),
      "zeromq": packageVersion("zeromq"),
    },
    "System Versions": {
      "machine": Deno.build.arch,
      "release": Deno.osRelease(),
      "system": Deno.build.os,
      "version": distribution(),
    },
  };
}

/** The same as text, names right-aligned, as `--versions-report` prints it, without a final newline. */
export async function versionsReport(): Promise<string> {
  const versions = await versionsInformation();
  const width = Math.max(...Object.values(versions).flatMap(Object.keys).map((name) => name.length));
  return Object.entries(versions).map(([section, entries]) =>
    [`${section}:`, ...Object.entries(entries).map(([name, version]) => `  ${name.padStart(width)}: ${version}`)]
      .join("\n")
  ).join("\n\n");
}

const IMPORTS: Readonly<Record<string, string>> = configuration.imports;

/** The version of `name` in the import map. */
function packageVersion(name: string): string {
  return /@([^@/]+)$/.exec(IMPORTS[name] ?? "")?.[1] ?? "Not Installed";
}

/** Loads the library, which `--version` alone does not need. */
async function loadedLibzmqVersion(): Promise<string> {
  const loaded = import("#lib/sockets/libzmq.ts").then(({ libzmqVersion }) => libzmqVersion());
  return await loaded.catch(() => "Not Installed");
}

/** The name of the distribution. */
function distribution(): string {
  const release = new HostFiles().text("/etc/os-release") ?? "";
  return /^PRETTY_NAME="?([^"\n]+)/m.exec(release)?.[1] ?? Deno.build.os;
}
