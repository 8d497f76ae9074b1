/**
 * A master's pillar in a scratch directory: files, options, requests.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { masterPillarHost } from "#lib/master/processes/pillar_compiler.ts";
import { plainRequest } from "#lib/pillar/request.ts";
import { PillarService } from "#lib/pillar/service.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { decode } from "#lib/values/msgpack.ts";
import { map, repr, type ValueMap } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";

/** The functions that a test uses. */
export interface PillarFixture {
  readonly root: string;
  /** The logged errors. */
  readonly errors: string[];
  /** The pillar of a minion, as Python's repr. */
  pillar(id?: string, grains?: Readonly<Record<string, unknown>>): Promise<string>;
  write(path: string, text: string): void;
}

/**
 * @param files File texts by path below the root; pillar files are in `pillar`.
 * @param options YAML of the master's options; `{root}` is the root.
 */
export async function withPillar(
  files: Readonly<Record<string, string>>,
  options: string,
  use: (fixture: PillarFixture) => Promise<void>,
): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "pillar_" });
  const write = (name: string, text: string) => {
    const path = `${root}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(path, text);
  };
  const ending = new AbortController();
  try {
    for (const [name, text] of Object.entries(files)) write(name, text);
    const given = loadYaml(options.replaceAll("{root}", root)) as ValueMap | null;
    const { opts } = loadMasterConfig({
      configDir: root,
      readsFiles: false,
      overrides: {
        root_dir: root,
        id: "m_master",
        pillar_roots: map({ base: [`${root}/pillar`] }),
        extension_modules: `${root}/ext`,
        ...Object.fromEntries(given ?? []),
      },
    });
    const errors: string[] = [];
    const host = masterPillarHost(opts, { log: SILENT_LOGGER, signal: ending.signal });
    const service = new PillarService(opts, {
      ...host,
      log: (level, message) => void (["error", "mistake"].includes(level) && errors.push(message)),
    });
    const pillar = async (id = "web1", grains: Readonly<Record<string, unknown>> = {}) =>
      repr(decode(await service.pillar(plainRequest(id, map(grains))), "wire"));
    await use({ root, errors, pillar, write });
  } finally {
    ending.abort();
    Deno.removeSync(root, { recursive: true });
  }
}
