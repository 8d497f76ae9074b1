import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { VERSION_TEXT } from "#lib/version.ts";
import { bundle, BundleError, isOf, scriptOf, startName, stemOf } from "#scripts/build/bundle.ts";
import { compiledScripts } from "#scripts/build/compiled.ts";
import { BUILT_AT } from "#scripts/build/place.ts";
import {
  type Command,
  COMMAND_ENTRIES,
  EXECUTABLES,
  LIBRARIES,
  PLACE_SOURCE,
  productionConfig,
  SCRIPT_SOURCES,
  STARTS,
  VERSION_SOURCE,
  WARM_SOURCE,
} from "#scripts/build/production.ts";
import { addPackages, runUsualStarts, v8LogFields } from "#scripts/fleet/usual_starts.ts";
import called from "#scripts/build/start_functions.json" with { type: "json" };

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** The scripts of this tree, as in an executable, made once. */
async function withScripts(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "bundle_test_" }));
  try {
    await bundle(ROOT, directory, [...SCRIPT_SOURCES, WARM_SOURCE, PLACE_SOURCE], {
      starts: STARTS,
      called,
      libraries: LIBRARIES,
    });
    await Deno.writeTextFile(`${directory}/deno.json`, productionConfig(ROOT));
    await use(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function deno(args: readonly string[], { input = "", env = {} }: {
  readonly input?: string | Uint8Array;
  readonly env?: Record<string, string>;
} = {}): Promise<Ran> {
  // The process of a custom module writes to its minion through descriptor 3.
  const child = new Deno.Command("/bin/sh", {
    args: ["-c", `exec 3>/dev/null; exec "$@"`, "sh", Deno.execPath(), ...DENO_RUN, ...args],
    env: { NO_COLOR: "1", ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(typeof input === "string" ? new TextEncoder().encode(input) : input);
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, out: text(stdout), err: text(stderr) };
}

/** The places in a stack trace, such as `lib/a.ts:1`, relative to the directory of the scripts, without Deno's own. */
function placesOf(text: string, directory: string): string[] {
  return [...text.matchAll(/\(?file:\/\/([^\s)]+):(\d+):\d+\)?/g)]
    .map(([, path, line]) => `${path.replace(`${directory}/`, "")}:${line}`);
}

/** The number of the line that contains `text` in the source file. */
async function lineOf(path: string, text: string): Promise<number> {
  const at = (await Deno.readTextFile(`${ROOT}/${path}`)).split("\n").findIndex((line) => line.includes(text));
  assert(at >= 0, `${path} does not hold ${text}`);
  return at + 1;
}

Deno.test("the stack of an error that a script reads names the sources too, for logs", async () => {
  const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "bundle_test_" }));
  try {
    await Deno.writeTextFile(`${directory}/deno.json`, `{ "imports": {} }`);
    await Deno.mkdir(`${directory}/lib`);
    await Deno.writeTextFile(
      `${directory}/lib/thrower.ts`,
      `// A line.\nexport const fail = (): never => {\n  throw new Error("oh");\n};\n`,
    );
    await Deno.writeTextFile(
      `${directory}/entry.ts`,
      `import { fail } from "./lib/thrower.ts";\ntry {\n  fail();\n} catch (error) {\n  if (error instanceof Error) console.log(error.stack);\n}\n`,
    );
    await Deno.mkdir(`${directory}/out`);
    assertEquals(await bundle(directory, `${directory}/out`, ["entry.ts"]), ["entry.mjs", "entry.mjs.map"]);
    const { out } = await deno([`${directory}/out/entry.mjs`]);
    assertEquals(placesOf(out, `${directory}/out`), ["lib/thrower.ts:3", "entry.ts:3"]);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("bundle() rejects files that an executable would not have, and imports that would make every start slower", async () => {
  const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "bundle_test_" }));
  try {
    await Deno.writeTextFile(`${directory}/deno.json`, `{ "imports": {} }`);
    for (
      const [text, reason] of [
        [`new Worker(new URL("./thread.ts", import.meta.url));`, /names thread\.ts, which has no script of its own/],
        [`console.log(import.meta.dirname);`, /uses import\.meta in a way that scripts have not/],
        [`import { join } from "node:path";\nconsole.log(join("a"));`, /imports node:path at its start/],
        [`import { a } from "left-pad";\nconsole.log(a);`, /left-pad is not in deno\.json's import map/],
        [`let = ;`, /entry\.ts:1/],
      ] as const
    ) {
      await Deno.writeTextFile(`${directory}/entry.ts`, text);
      const error = await assertRejects(() => bundle(directory, `${directory}/out`, ["entry.ts"]), BundleError);
      assertMatch(error.message, reason);
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

const OF_THIS_TREE: Readonly<Record<string, (directory: string) => Promise<void>>> = {
  "a script names the sources' files and lines in a stack: of an entry, an MWorker and a custom module's process":
    async (directory) => {
      const starter = `${directory}/starter.js`;
      await Deno.writeTextFile(
        starter,
        `new Worker(new URL(Deno.args[0], import.meta.url), { type: "module" }).postMessage(JSON.parse(Deno.args[1]));`,
      );
      const words = ["--config", `${directory}/deno.json`];
      const pump = await deno([...words, `${directory}/minion.mjs`, "--as", "salt-module-process"], {
        input: new Uint8Array(16).fill(255),
      });
      assertEquals(placesOf(pump.err, directory), [
        `lib/protocol/frames.ts:${await lineOf("lib/protocol/frames.ts", "throw new RangeError(`a message of")}`,
        `lib/minion/worker/module_pump.ts:${await lineOf("lib/minion/worker/module_pump.ts", "of frames.push(piece)")}`,
        `minion.ts:${await lineOf("minion.ts", "return await runModulePump()")}`,
        `minion.ts:${await lineOf("minion.ts", "Deno.exit(await main())")}`,
      ]);
      for (
        const [source, message, file, line] of [
          ["lib/master/daemon/mworker_thread.ts", "null", "lib/runtime/thread.ts", "switch (data.kind) {"],
          [
            "lib/minion/worker/module_worker.ts",
            "[]",
            "lib/minion/worker/module_worker.ts",
            "const message = parseToModule(data)",
          ],
        ] as const
      ) {
        const { err } = await deno([...words, starter, scriptOf(source), message]);
        const places = placesOf(err, directory);
        assert(places.includes(`${file}:${await lineOf(file, line)}`), err);
        assertEquals(places.filter((place) => place.startsWith(scriptOf(source))), [], err);
      }
    },
  "the scripts say what the sources say: each command's help and version": async (directory) => {
    for (const { name, links, entry } of EXECUTABLES) {
      for (const command of [name, ...links]) {
        const as = command === "salt-master" ? [] : ["--as", command];
        const version = await deno([`${directory}/${scriptOf(VERSION_SOURCE)}`, command]);
        assertEquals(version, { code: 0, out: `${command} ${VERSION_TEXT}\n`, err: "" });
        assertEquals(await deno([`${ROOT}/${entry}`, ...as, "--version"]), version);
        const own = Object.hasOwn(COMMAND_ENTRIES, command) ? COMMAND_ENTRIES[command as Command] : entry;
        const help = await deno([`${directory}/${scriptOf(own)}`, ...as, "--help"]);
        assertEquals(help.code, 0);
        assertEquals(await deno([`${ROOT}/${entry}`, ...as, "--help"]), help);
      }
    }
  },
  "a script holds the package that --query loads when it is asked for": async (directory) => {
    await Deno.mkdir(`${directory}/etc`);
    await Deno.writeTextFile(`${directory}/etc/master`, `root_dir: ${directory}\n`);
    const words = ["--as", "salt-run", "-c", `${directory}/etc`, "--out=json", "--query=kwargs.a", "test.arg", "a=x"];
    assertEquals(await deno([`${directory}/${scriptOf("salt.ts")}`, ...words]), { code: 0, out: '"x"\n', err: "" });
  },
  "each library is a script that the returner loads when it is called": async (directory) => {
    const etc = `${directory}/etc-of-a-minion`;
    await Deno.mkdir(etc);
    const place = "{host: 127.0.0.1, port: 9, from: a@example.com, to: b@example.com}";
    const returners = { "returner.pgjsonb": "pgjsonb", mysql: "mysql", redis: "redis", smtp: "smtp" };
    const options = Object.keys(returners).map((name) => `${name}: ${place}\n`);
    await Deno.writeTextFile(`${etc}/minion`, `root_dir: ${etc}\nid: web1\n${options.join("")}`);
    const script = `${directory}/${scriptOf(COMMAND_ENTRIES["salt-call"])}`;
    const words = ["-c", etc, "--local", `--return=${Object.values(returners)}`, "test.ping"];
    const { code, out, err } = await deno([script, ...words]);
    assertEquals({ code, out }, { code: 0, out: "local:\n    True\n" });
    // Nothing listens on port 9: each of the libraries says so.
    for (const name of Object.values(returners)) {
      assertMatch(
        err,
        new RegExp(`The returner ${name} did not take the result: .*(?:ECONNREFUSED|Connection refused)`),
      );
    }
  },
  "each file of a script begins with the name of the script": (directory) => {
    const sources = [...SCRIPT_SOURCES, ...LIBRARIES, WARM_SOURCE, PLACE_SOURCE];
    const files = [...Deno.readDirSync(directory)].filter(({ name }) => name.includes(".mjs"));
    const strange = files.filter(({ name }) => !sources.some((source) => isOf(source, name)));
    assertEquals(strange.map(({ name }) => name), []);
    return Promise.resolve();
  },
  "usual starts read the files that STARTS names, and no other": async (directory) => {
    await addPackages(directory);
    const [root, logs] = [`${directory}/starts`, `${directory}/logs`];
    await Deno.mkdir(root);
    await Deno.mkdir(logs);
    await runUsualStarts({ directory: root, stage: directory, logs });
    const read = new Set(
      v8LogFields(logs).flat().flatMap(([kind, , url = ""]) =>
        kind === "script-details" && url.startsWith(`file://${directory}/`) ? [url.replace(/^.*\//, "")] : []
      ),
    );
    // One more file is made for scripts with a package whose modules are CommonJS.
    const named = SCRIPT_SOURCES.flatMap((source) => {
      const lists = STARTS[source] ?? [];
      const files = lists === "one file" ? [] : lists.map((list, index) => startName(list, index));
      return [scriptOf(source), ...[...files, "rolldown-runtime"].map((name) => `${stemOf(source)}.${name}.mjs`)];
    });
    assertEquals([...read].filter((file) => !named.includes(file)).sort(), []);
    const starts = ["master.start.mjs", "minion.start.mjs", "salt.start.mjs", "salt.salt_key.mjs", "salt.salt_run.mjs"];
    assertEquals(starts.filter((file) => !read.has(file)), [], "files that no start read");
  },
  "what V8 compiles of every script is shipped, and taken where the scripts are then": async (directory) => {
    // Deno finds compiled code by the URL of the script.
    const cachedScripts = (cache: string, base: string) => {
      using database = new DatabaseSync(`${cache}/v8_code_cache_v2`);
      const known = new Set(
        database.prepare("SELECT specifier FROM codecache").all().map(({ specifier }) => specifier),
      );
      return SCRIPT_SOURCES.filter((source) => known.has(`${base}${scriptOf(source)}`)).sort();
    };
    const shipped = await compiledScripts(directory);
    assertEquals(shipped.map(({ name }) => name).sort(), [
      "cache/dep_analysis_cache_v2",
      "cache/node_analysis_cache_v2",
      "cache/v8_code_cache_v2",
    ]);
    const cache = `${directory}/cache`;
    assertEquals(cachedScripts(cache, BUILT_AT), [...SCRIPT_SOURCES].sort());
    const home = `${directory}/a % place`;
    const place = [`${directory}/${scriptOf(PLACE_SOURCE)}`, cache, home];
    assertEquals(await deno(place), { code: 0, out: "", err: "" });
    assertEquals(cachedScripts(cache, `file://${encodeURI(home)}/`), [...SCRIPT_SOURCES].sort());
    await Deno.mkdir(home);
    const script = scriptOf(VERSION_SOURCE);
    await Deno.copyFile(`${directory}/${script}`, `${home}/${script}`);
    const { stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", "--no-lock", "--log-level=debug", `${home}/${script}`, "salt"],
      env: { DENO_DIR: cache, NO_COLOR: "1" },
      stdin: "null",
    }).output();
    const log = new TextDecoder().decode(stderr);
    assertStringIncludes(log, `V8 code cache hit for ES module: file://${encodeURI(home)}/${script}`);
  },
};

Deno.test("the scripts of this tree", async (t) => {
  await withScripts(async (directory) => {
    for (const [name, test] of Object.entries(OF_THIS_TREE)) await t.step(name, () => test(directory));
  });
});
