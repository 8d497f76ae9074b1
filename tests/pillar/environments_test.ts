/**
 * Environments of pillar that a request names: `__env__` in `pillar_roots`.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { masterPillarHost } from "#lib/master/processes/pillar_compiler.ts";
import { compilePillar } from "#lib/pillar/compile.ts";
import { readPillarRequest } from "#lib/pillar/request.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, repr, type Value } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Where a top file is that no environment may lead to; compiling it leaves a mark. */
const OUTSIDE = ["elsewhere", "env", "a", "", "sharedx", "deep/er"];

interface Environments {
  readonly root: string;
  readonly warnings: string[];
  /** The pillar of a minion's request, as Python's repr. */
  pillar(load: Readonly<Record<string, unknown>>): Promise<string>;
  /** Whether a file outside of the roots was rendered. */
  isTrapped(): boolean;
}

async function withEnvironments(
  roots: Readonly<Record<string, readonly string[]>>,
  use: (environments: Environments) => Promise<void>,
): Promise<void> {
  await withTemporaryDirectory(async (root) => {
    const write = (path: string, text: string) => {
      Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      Deno.writeTextFileSync(path, text);
    };
    for (const name of OUTSIDE) {
      write(`${root}/${name}/top.sls`, `{% do salt['cmd.run']('touch ${root}/trapped') %}\n{}\n`);
    }
    write(`${root}/shared/dev/top.sls`, "dev: {'*': [x]}\n");
    write(`${root}/shared/dev/x.sls`, "from: dev\n");
    write(`${root}/shared/feature/one/top.sls`, "feature/one: {'*': [x]}\n");
    write(`${root}/shared/feature/one/x.sls`, "from: feature\n");
    write(`${root}/shared/$&/top.sls`, "'$&': {'*': [x]}\n");
    write(`${root}/shared/$&/x.sls`, "from: dollars\n");
    Deno.symlinkSync(`${root}/elsewhere`, `${root}/shared/link`);
    Deno.symlinkSync(`${root}/shared/dev`, `${root}/shared/inner`);
    const pillarRoots = Object.entries(roots).map(([env, list]) =>
      [env, list.map((path) => `${root}/${path}`)] as const
    );
    const { opts } = loadMasterConfig({
      configDir: root,
      readsFiles: false,
      overrides: { root_dir: root, id: "m_master", pillar_roots: map(Object.fromEntries(pillarRoots)) },
    });
    const warnings: string[] = [];
    const host = masterPillarHost(opts, { log: SILENT_LOGGER, signal: new AbortController().signal });
    await use({
      root,
      warnings,
      async pillar(load) {
        const request = readPillarRequest(map({ cmd: "_pillar", ...load }), "web1");
        const log = (level: string, message: string) => void (level === "warning" && warnings.push(message));
        return repr((await compilePillar(request, { ...host, log })).pillar);
      },
      isTrapped: () => [...Deno.readDirSync(root)].some(({ name }) => name === "trapped"),
    });
  });
}

/** Texts that would lead out of `shared`, or are no name. */
const HOSTILE = [
  "..",
  ".",
  "/",
  "../elsewhere",
  "dev/../../elsewhere",
  "dev/..",
  "./dev",
  "dev/",
  "../sharedx",
  "dev\0",
  "x".repeat(5_000),
];

Deno.test("no environment of a request leads out of pillar_roots: nothing there is rendered, and the log names it", () =>
  withEnvironments({ __env__: ["shared/__env__"] }, async ({ root, warnings, pillar, isTrapped }) => {
    for (const env of [...HOSTILE, `${root}/elsewhere`, `/../../../../../../..${root}/elsewhere`, "link"]) {
      for (const load of [{ pillarenv: env }, { saltenv: env }, { env }, { saltenv: env, pillarenv: env }]) {
        warnings.length = 0;
        assertEquals(await pillar(load), "{}", repr(map(load)));
        assertEquals(isTrapped(), false, repr(map(load)));
        assertEquals(warnings.length, 1, repr(map(load)));
        assertStringIncludes(warnings[0], "is not used");
      }
    }
  }));

Deno.test("an environment that pillar_roots does not name is the directory of __env__ with its name, and nothing else", () =>
  withEnvironments({ base: ["base"], __env__: ["shared/__env__"] }, async ({ warnings, pillar }) => {
    assertEquals(await pillar({ pillarenv: "dev" }), "{'from': 'dev'}");
    assertEquals(await pillar({ saltenv: "dev" }), "{'from': 'dev'}");
    assertEquals(await pillar({ pillarenv: "feature/one" }), "{'from': 'feature'}", "branches have slashes");
    assertEquals(await pillar({ pillarenv: "$&" }), "{'from': 'dollars'}", "no pattern of a replacement");
    assertEquals(await pillar({ pillarenv: "missing" }), "{}");
    assertEquals(await pillar({ pillarenv: "inner" }), "{}", "below the root: its top file has only dev");
    assertEquals(warnings, []);
  }));

Deno.test("a root whose name only contains __env__ bounds the environment to the directory that it is in", () =>
  withEnvironments({ __env__: ["in/of-__env__/deep", "in/of-__env__"] }, async ({ root, pillar, isTrapped }) => {
    Deno.mkdirSync(`${root}/in/of-dev/deep`, { recursive: true });
    Deno.symlinkSync(`${root}/shared/dev/top.sls`, `${root}/in/of-dev/top.sls`);
    Deno.writeTextFileSync(`${root}/in/of-dev/deep/x.sls`, "from: deep\n");
    Deno.symlinkSync(`${root}/elsewhere`, `${root}/in/of-link`);
    for (const pillarenv of [...HOSTILE, "link", "dev/../../elsewhere", "x/../../../elsewhere"]) {
      assertEquals(await pillar({ pillarenv }), "{}", pillarenv);
    }
    assertEquals(isTrapped(), false);
    assertEquals(await pillar({ pillarenv: "dev" }), "{'from': 'deep'}");
  }));

Deno.test("a directory that the operator names for an environment may be a link, and its name any text", () =>
  withEnvironments({ "../odd": ["shared/inner"], __env__: ["shared/__env__"] }, async ({ root, warnings, pillar }) => {
    Deno.writeTextFileSync(`${root}/shared/dev/top.sls`, "../odd: {'*': [x]}\n");
    const value: Value = await pillar({ pillarenv: "../odd" });
    assertEquals(value, "{'from': 'dev'}");
    assertEquals(warnings, []);
  }));

Deno.test("stack takes no environment of a request to a file out of the directory of __env__", () =>
  withTemporaryDirectory(async (root) => {
    for (const path of ["elsewhere", "stacks/dev"]) Deno.mkdirSync(`${root}/${path}`, { recursive: true });
    Deno.writeTextFileSync(
      `${root}/elsewhere/stack.cfg`,
      `{% do __opts__ %}{% do salt['cmd.run']('touch ${root}/trapped') %}`,
    );
    Deno.writeTextFileSync(`${root}/stacks/dev/stack.cfg`, "x.yml\n");
    Deno.writeTextFileSync(`${root}/stacks/dev/x.yml`, "from: dev\n");
    Deno.symlinkSync(`${root}/elsewhere`, `${root}/stacks/link`);
    const source = map({ stack: { "opts:pillarenv": { __env__: `${root}/stacks/__env__/stack.cfg` } } });
    const { opts } = loadMasterConfig({
      configDir: root,
      readsFiles: false,
      overrides: { root_dir: root, id: "m_master", pillar_roots: map({ base: [root] }), ext_pillar: [source] },
    });
    const warnings: string[] = [];
    const host = masterPillarHost(opts, { log: SILENT_LOGGER, signal: new AbortController().signal });
    const log = (level: string, message: string) => void (level === "warning" && warnings.push(message));
    const pillar = async (pillarenv: string) =>
      repr((await compilePillar(readPillarRequest(map({ pillarenv }), "web1"), { ...host, log })).pillar);
    assertEquals(await pillar("dev"), "{'from': 'dev'}");
    assertEquals(warnings, []);
    for (const env of ["../elsewhere", "dev/../../elsewhere", "link"]) {
      warnings.length = 0;
      assertEquals(await pillar(env), "{}", env);
      assertEquals([...Deno.readDirSync(root)].some(({ name }) => name === "trapped"), false, env);
      assertStringIncludes(warnings.join(), "is not used");
    }
  }));
