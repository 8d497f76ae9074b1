/**
 * The host on which a master compiles pillar.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { masterPillarHost } from "#lib/master/processes/pillar_compiler.ts";
import { plainRequest } from "#lib/pillar/request.ts";
import { PillarService } from "#lib/pillar/service.ts";
import { decode } from "#lib/values/msgpack.ts";
import { repr } from "#lib/values/value.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a module of the operator that cannot be loaded is named in the master's log, and pillar is compiled without it", () =>
  withTemporaryDirectory(async (root) => {
    const overrides = { root_dir: root, pillar_roots: new Map([["base", [root]]]) };
    const { opts } = loadMasterConfig({ configDir: root, readsFiles: false, overrides });
    const directory = `${opts.extension_modules}/modules`;
    Deno.mkdirSync(directory, { recursive: true });
    Deno.writeTextFileSync(`${directory}/broken.js`, "export const = 1;");
    Deno.writeTextFileSync(`${root}/top.sls`, "base:\n  '*':\n    - a\n");
    Deno.writeTextFileSync(`${root}/a.sls`, "a: {{ 'broken.x' in salt }}\nb: {{ 'test.ping' in salt }}\n");
    const { log, lines } = memoryLog();
    const { signal } = new AbortController();
    const service = new PillarService(opts, masterPillarHost(opts, { log, signal }));
    const pillar = decode(await service.pillar(plainRequest("web1", new Map())), "wire");
    assertEquals(repr(pillar), "{'a': False, 'b': True}");
    assertMatch(lines.join("\n"), /^WARNING .*broken\.js/);
  }));
