import configuration from "../../deno.json" with { type: "json" };
import { functionTables } from "#scripts/reference/function_tables.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { EXECUTABLES, TARGETS } from "#scripts/build/production.ts";
import { UNBUILT_COMMANDS } from "#lib/master/requests/unbuilt_commands.ts";
import { repr } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");
const PAGES = ["README.md", "CHANGELOG.md", ...documents()];

function documents(): string[] {
  return [...Deno.readDirSync(`${ROOT}/docs`)].map(({ name }) => `docs/${name}`).filter((name) => name.endsWith(".md"));
}

function read(page: string): string {
  return Deno.readTextFileSync(`${ROOT}/${page}`);
}

/** The text under a heading of the second level. */
function section(page: string, heading: string): string {
  const [, body] = read(page).split(`\n## ${heading}\n`);
  assert(body !== undefined, `${page} has no section "${heading}"`);
  return body.split("\n## ")[0];
}

function shellBlocks(text: string): string[] {
  return [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block);
}

/** The rows of the first table, each a list of cells, without its head. */
function table(text: string): string[][] {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.startsWith("|"));
  const end = lines.findIndex((line, i) => i > first && !line.startsWith("|"));
  return lines.slice(first + 2, end).map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

function words(text: string): string[] {
  return [...text.replace(/^```[^]*?^```$/gm, "").matchAll(/`([^`]+)`/g)].map(([, word]) => word);
}

for (const page of PAGES) {
  Deno.test(`${page} names existing tasks and files, and one version of Deno`, () => {
    const text = read(page);
    for (const [, task] of text.matchAll(/deno(?:@[\d.]+)? task ([a-z]+)/g)) {
      assert(Object.hasOwn(configuration.tasks, task), `deno task ${task}`);
    }
    for (const [, version] of text.matchAll(/deno@([\d.]*\d)/g)) assertEquals(version, Deno.version.deno);
    for (const [, link] of text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
      const url = new URL(link, `file://${ROOT}/${page}`);
      assert(Deno.statSync(url).isFile, `${page} links to ${link}`);
    }
  });
}

Deno.test("from the README one reaches every page of docs by links", () => {
  const reached = new Set<string>(), open = ["README.md"];
  for (const page of open) {
    for (const [, link] of read(page).matchAll(/\]\((?!https?:)([^)#]+\.md)[^)]*\)/g)) {
      const path = new URL(link, `file:///${page}`).pathname.slice(1);
      if (reached.has(path)) continue;
      reached.add(path);
      open.push(path);
    }
  }
  assertEquals(documents().filter((page) => !reached.has(page)), []);
});

Deno.test("the README's two commands are on its first screen", () => {
  const screen = read("README.md").split("\n").slice(0, 24).join("\n");
  for (const task of ["demo", "test"]) {
    assertStringIncludes(screen, `npx -y deno@${Deno.version.deno} task ${task}`);
  }
});

Deno.test("the README's table of executables lists what the build makes", () => {
  const rows = table(read("README.md")).map(([name, links]) => ({ name: words(name)[0], links: words(links) }));
  assertEquals(
    rows.sort((a, b) => a.name < b.name ? -1 : 1),
    EXECUTABLES.map(({ name, links }) => ({ name, links: [...links] })).sort((a, b) => a.name < b.name ? -1 : 1),
  );
});

Deno.test("the README gives a reason for each dependency, and lists no other", () => {
  const named = table(section("README.md", "Dependencies")).map(([name, reason]) => {
    assert(reason.length > 20);
    return words(name)[0];
  });
  const packages = Object.values(configuration.imports).filter((target) => !target.startsWith("./"));
  const imported = packages.map((target) => /^npm:(@?[^@]+)@/.exec(target)?.[1] ?? target);
  assertEquals(named.sort(), [...new Set(imported)].sort());
});

Deno.test("docs/functions.md is the output of scripts/reference/function_tables.ts", async () => {
  assertEquals(
    read("docs/functions.md"),
    await functionTables(),
    "stale: run deno run -A scripts/reference/function_tables.ts",
  );
});

Deno.test("docs/differences.md lists the commands that the master answers without acting", () => {
  const rows = Object.entries(UNBUILT_COMMANDS).map(([name, { answer, part }]) => [
    `\`${name}\``,
    `\`${repr(answer())}\``,
    part,
  ]);
  assertEquals(table(section("docs/differences.md", "Commands of minions without effect")), rows);
});

Deno.test("the installation guide names the platforms of the build", () => {
  assertEquals(words(section("docs/installation.md", "Build")).filter((word) => TARGETS.includes(word)), [...TARGETS]);
});

Deno.test("the README's steps for a first fleet work", async () => {
  const blocks = shellBlocks(section("README.md", "A first fleet by hand"));
  assertEquals(blocks.length, 4);
  const cwd = await Deno.makeTempDir({ prefix: "readme_" });
  try {
    await Deno.mkdir(`${cwd}/dist`);
    for (const { name, entry, links } of EXECUTABLES) {
      for (const program of [name, ...links]) {
        const as = program === "salt-master" ? "" : `--as ${program}`;
        const run = `exec '${Deno.execPath()}' run --allow-all --quiet '${ROOT}/${entry}' ${as} "$@"`;
        await Deno.writeTextFile(`${cwd}/dist/${program}`, `#!/bin/sh\n${run}\n`, { mode: 0o755 });
      }
    }
    const [publishPort, requestPort] = [freePort(), freePort()];
    const shell = async (block: string): Promise<string> => {
      const script = block
        .replace("interface: 127.0.0.1", (line) => `${line}\npublish_port: ${publishPort}\nret_port: ${requestPort}`)
        .replace(/^master: .*$/m, (line) => `${line}\nmaster_port: ${requestPort}\nacceptance_wait_time: 0.3`);
      const { code, stdout, stderr } = await new Deno.Command("sh", {
        args: ["-eu"].concat("-c", `PATH=$PWD/dist:$PATH\nexport SALT_CONFIG_DIR=$PWD/fleet/etc/salt\n${script}`),
        cwd,
        stdin: "null",
      }).output();
      assertEquals({ code, err: new TextDecoder().decode(stderr) }, { code: 0, err: "" }, block);
      return new TextDecoder().decode(stdout);
    };

    const [start, accept, use, stop] = blocks;
    await shell(start);
    try {
      await eventually(() => isThere(`${cwd}/fleet/etc/salt/pki/master/minions_pre/web1`), { what: "the key" });
      assertMatch(await shell(accept), /Unaccepted Keys:\nweb1\n[^]*Key for minion web1 accepted/);
      await eventually(() => isThere(`${cwd}/fleet/var/cache/salt/master/grains/web1.p`), { what: "the sign-in" });
      const shown = await shell(use);
      assertMatch(shown, /^web1:\n {4}True\n/);
      assertMatch(shown, new RegExp(`^ {4}${Deno.build.os} `, "im"));
      assertStringIncludes(shown, "test.echo:");
      assertStringIncludes(shown, "cmd.run");
    } finally {
      await shell(stop);
      await eventually(() => !isThere(`${cwd}/fleet/var/run/salt-master.pid`), { what: "the end of the master" });
      await eventually(() => !isThere(`${cwd}/fleet/var/run/salt-minion.pid`), { what: "the end of the minion" });
    }
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});

function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
