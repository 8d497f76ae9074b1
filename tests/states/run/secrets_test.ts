/**
 * Secrets from pillar appear neither in the arguments of programs that a state starts, which every process of the host
 * can read, nor in the log. The programs are recorded, not run.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";
import type { ChildSpec } from "#lib/programs/child_process.ts";
import { isMap, repr } from "#lib/values/value.ts";

const SECRET = "canary-5e7a91";
/** Programs that the states search before they start them. */
const PROGRAMS = ["psql", "initdb", "unzip", "useradd", "usermod", "gpg", "crontab"];

/** States with a secret, and how a program receives it; `none`: no program receives it. */
const STATES: Readonly<Record<string, readonly [sls: string, by: "stdin" | "file" | "environment" | "none"]>> = {
  "a password of a role": [`postgres_user.present: [{name: web}, {password: ${SECRET}}, {encrypted: false}]`, "stdin"],
  "a password of a group": [
    `postgres_group.present: [{name: web}, {password: ${SECRET}}, {encrypted: false}]`,
    "stdin",
  ],
  "the password of a connection": [
    `postgres_database.present: [{name: web}, {db_password: ${SECRET}}, {db_host: localhost}, {db_user: admin}]`,
    "file",
  ],
  "the password of a new cluster": [
    `postgres_initdb.present: [{name: ROOT/data}, {password: ${SECRET}}, {runas: root}, {user: postgres}]`,
    "file",
  ],
  "a hash of a user": [`user.present: [{name: secrets_user}, {password: ${SECRET}}, {createhome: false}]`, "none"],
  "a password of a user": [
    `user.present: [{name: secrets_user}, {password: ${SECRET}}, {hash_password: true}, {createhome: false}]`,
    "none",
  ],
  "a hash that a program sets": [
    `module.run: [{shadow.set_password: [secrets_user, ${SECRET}, {use_usermod: true}]}]`,
    "stdin",
  ],
  "a line of cron": [`cron.present: [{name: 'curl -u x:${SECRET} localhost'}, {user: root}, {no_log: true}]`, "file"],
  "an index of Python's packages": [
    `module.run: [{pip.install: [{pkgs: so}, {index_url: 'https://web:${SECRET}@localhost/simple'}]}]`,
    "environment",
  ],
  "a proxy for Python's packages": [
    `module.run: [{pip.uninstall: [{pkgs: so}, {proxy: 'http://web:${SECRET}@localhost:1'}]}]`,
    "environment",
  ],
  "the URL of a Python package": [
    `module.run: [{pip.install: [{pkgs: 'git+https://web:${SECRET}@localhost/so.git'}]}]`,
    "file",
  ],
  "the URL of an editable Python package": [
    `module.run: [{pip.install: [{editable: 'git+https://web:${SECRET}@localhost/so.git#egg=so'}]}]`,
    "file",
  ],
  "a share": [
    `module.run: [{mount.mount: [{name: ROOT}, {device: //localhost/a}, {fstype: cifs}, {opts: 'user=web,password=${SECRET}'}]}]`,
    "environment",
  ],
  "a file": [`file.managed: [{name: ROOT/secret}, {contents: ${SECRET}}, {show_changes: false}]`, "none"],
  "a request": [
    `http.query: [{name: 'http://localhost:1/'}, {status: 200}, {username: x}, {password: ${SECRET}}, {raise_error: false}]`,
    "none",
  ],
};

/** The content of the files named in the arguments and the environment of a program. */
function filesOf({ argv, env }: ChildSpec): string {
  return [...argv.map((word) => word.replace(/^--[a-z]+=/, "")), ...Object.values(env)].filter((one) =>
    one.startsWith("/tmp/")
  )
    .map((path) => {
      try {
        return Deno.readTextFileSync(path);
      } catch {
        return ""; // The argument is no readable file.
      }
    }).join("\n");
}

for (const [what, [sls, by]] of Object.entries(STATES)) {
  Deno.test(`${what} is in no program's arguments and in no log`, async () => {
    const path = Deno.env.get("PATH") ?? "";
    const root = await Deno.makeTempDir({ prefix: "secrets_" });
    const ways = new Set<string>();
    const seen: string[] = [];
    try {
      for (const name of PROGRAMS) await Deno.writeTextFile(`${root}/${name}`, "#!/bin/true\n", { mode: 0o755 });
      Deno.env.set("PATH", `${root}:${path}`);
      await using tree = await openTree({
        files: { "t.sls": `so:\n  ${sls.replaceAll("ROOT", root).replaceAll(SECRET, "{{ pillar.secret }}")}\n` },
        pillar: { secret: SECRET },
        context: {
          log: (level, text) => void seen.push(`${level}: ${text}`),
          runChild: (spec) => {
            seen.push(spec.argv.join(" "));
            if (spec.stdin !== undefined && new TextDecoder().decode(spec.stdin).includes(SECRET)) ways.add("stdin");
            if (Object.values(spec.env).some((value) => value.includes(SECRET))) ways.add("environment");
            if (filesOf(spec).includes(SECRET)) ways.add("file");
            const stdout = new TextEncoder().encode(
              spec.argv.some((word) => word.includes("pg_roles")) ? "name\n" : "",
            );
            const none = { stderr: new Uint8Array(), timedOut: false, dropped: { stdout: 0, stderr: 0 } };
            return Promise.resolve({ pid: 7, retcode: 0, stdout, ...none });
          },
        },
      });
      const { returned } = await tree.call("state.sls", ["t"]);
      assert(!Array.isArray(returned), String(returned));
      assertEquals(seen.filter((line) => line.includes(SECRET)), []);
      assertEquals([...ways], by === "none" ? [] : [by], seen.join("\n"));
    } finally {
      Deno.env.set("PATH", path);
      await Deno.remove(root, { recursive: true });
    }
  });
}

Deno.test("a state with no_log leaves nothing in the log: neither its name nor its commands nor their output", async () => {
  const seen: Record<string, boolean> = {};
  for (const hides of [true, false]) {
    const lines: string[] = [];
    await using tree = await openTree({
      files: { "t.sls": `so:\n  cmd.run: [{name: 'echo ${SECRET} >&2; exit 3'}, {no_log: ${hides}}]\n` },
      context: { log: (level, text) => void lines.push(`${level}: ${text}`) },
    });
    const { returned } = await tree.call("state.sls", ["t"]);
    seen[`log, no_log: ${hides}`] = lines.join("\n").includes(SECRET);
    assert(isMap(returned));
    const [result] = returned.values();
    seen[`result, no_log: ${hides}`] = repr(result).includes(SECRET);
  }
  assertEquals(seen, {
    "log, no_log: true": false,
    "result, no_log: true": false,
    "log, no_log: false": true,
    "result, no_log: false": true,
  });
});
