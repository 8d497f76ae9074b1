/**
 * States of packages, really applied: the same SLS files, each in test mode, applied, and applied again, by `salt-call`
 * of both implementations in root directories of their own with equal repositories. The returns of the states are
 * equal, and so is the database of dpkg at the end.
 * @module
 */

import { which } from "#lib/programs/which.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, type ValueMap } from "#lib/values/value.ts";
import { AptRoot } from "#tests/support/calls/apt_root.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { OURS, type Salt, testWithPython } from "./salts.ts";

const INSTALL = `
other:
  pkg.installed
hello:
  pkg.installed: [{version: '1:1.0-1'}, {hold: true}]
unknown:
  pkg.installed: [{name: nosuchpkg}]
other version:
  pkg.installed: [{pkgs: [{third: '9'}]}]
local:
  pkg.installed: [{sources: [{local: FILE}]}]
newest:
  pkg.latest: [{pkgs: [third, other]}]
not there:
  pkg.latest: [{name: nosuchpkg}]
`;

const REMOVE = `
there:
  pkg.installed: [{pkgs: [hello, other, {third: '2.0'}]}]
again:
  pkg.installed: [{name: third}, {reinstall: true}]
released:
  pkg.unheld: [{name: hello}]
held:
  pkg.held: [{pkgs: [third, other]}]
held alone:
  pkg.held: [{pkgs: [third]}, {replace: true}]
all released:
  pkg.unheld: [{all: true}]
removed:
  pkg.removed: [{pkgs: [hello, nosuch]}]
another version:
  pkg.removed: [{name: third}, {version: '1.0'}]
purged:
  pkg.purged: [{pkgs: [hello, third]}]
upgrade:
  pkg.uptodate: [{refresh: true}]
`;

/** The first state has a list: Salt 3008.3 leaves out a package that only the name of the first state names. */
const AGGREGATED = `
one:
  pkg.installed: [{pkgs: [hello]}]
two:
  pkg.installed: [{pkgs: [other, third]}]
behind:
  pkg.installed: [{name: third}, {require: [{pkg: one}]}]
newest:
  pkg.latest: [{name: lib}]
not with them:
  pkg.installed: [{name: nosuchpkg}, {aggregate: false}]
after them:
  test.succeed_with_changes: [{onchanges: [{pkg: two}]}]
`;

const TOGETHER = `
gone:
  pkg.removed: [{pkgs: [hello]}, {aggregate: true}]
gone too:
  pkg.removed: [{pkgs: [other, nosuch]}, {aggregate: true}]
alone:
  pkg.purged: [{name: third}]
one of them is not there:
  pkg.installed: [{pkgs: [hello, nosuchpkg]}, {aggregate: true}]
with it:
  pkg.installed: [{name: other}, {aggregate: true}]
`;

/** SLS files in the order of their runs, each with whether it runs in test mode. */
interface Situation {
  readonly files: Readonly<Record<string, string>>;
  readonly runs: readonly (readonly [sls: string, test: boolean])[];
  /** Additional options of the minion. */
  readonly options?: string;
}

const EACH: Situation = {
  files: { install: INSTALL, remove: REMOVE },
  runs: [["install", true], ["install", false], ["install", false], ["remove", true], ["remove", false]],
};

const MANY_AS_ONE: Situation = {
  files: { aggregated: AGGREGATED, together: TOGETHER },
  runs: [["aggregated", true], ["aggregated", false], ["aggregated", false], ["together", true], ["together", false]],
  options: "state_aggregate: [pkg]\n",
};

/** The returns of the states of one run, without times. */
type Returned = ReadonlyMap<string, ValueMap>;

async function states(
  salt: Salt,
  { files, runs: plan, options = "" }: Situation,
): Promise<{ readonly runs: Returned[]; readonly status: string }> {
  using root = new AptRoot([
    { name: "lib", version: "1.0" },
    { name: "hello", version: "1:1.0-1", depends: "lib" },
    { name: "other", version: "0.9" },
    { name: "third", version: "2.0" },
  ]);
  const file = root.build({ name: "local", version: "3" });
  for (const directory of ["minion", "srv"]) Deno.mkdirSync(`${root.path}/${directory}`);
  Deno.writeTextFileSync(
    `${root.path}/minion/minion`,
    `id: web1\nfile_client: local\nroot_dir: ${root.path}/salt\nfile_roots:\n  base: [${root.path}/srv]\n${options}`,
  );
  for (const [name, text] of Object.entries(files)) {
    Deno.writeTextFileSync(`${root.path}/srv/${name}.sls`, text.replace("FILE", file));
  }
  const runs: Returned[] = [];
  for (const [sls, test] of plan) {
    if (sls === "remove" && test) {
      root.offer([{ name: "other", version: "1.5" }, { name: "third", version: "2.1" }]);
    }
    const [program, ...words] = salt.command("salt-call");
    const args = [...words, "-c", `${root.path}/minion`, "--local", "-l", "quiet", "--out=json", "state.sls", sls];
    const { stdout, stderr } = await new Deno.Command(program, { args: [...args, `test=${test}`] }).output();
    runs.push(
      returned(new TextDecoder().decode(stdout).replaceAll(root.path, "ROOT"), new TextDecoder().decode(stderr)),
    );
  }
  return { runs, status: Deno.readTextFileSync(`${root.path}/var/lib/dpkg/status`) };
}

function returned(stdout: string, stderr: string): Returned {
  const answer = parseJson(stdout);
  const local = isMap(answer) ? answer.get("local") : undefined;
  assert(isMap(local), `${stdout}\n${stderr}`);
  return new Map([...local].map(([tag, result]) => {
    assert(isMap(result), `${stdout}\n${stderr}`);
    for (const key of ["start_time", "duration"]) result.delete(key);
    return [String(tag), result];
  }));
}

if (which("apt-get") !== undefined && which("dpkg-deb") !== undefined && Deno.uid() === 0) {
  const alike = async (python: Salt, situation: Situation) => {
    const [theirs, ours] = [await states(python, situation), await states(OURS, situation)];
    for (const [i, [sls, test]] of situation.runs.entries()) {
      const place = `${sls}${test ? ", planned" : ""} (run ${i + 1})`;
      assertEquals([...ours.runs[i].keys()].sort(), [...theirs.runs[i].keys()].sort(), place);
      for (const [tag, result] of theirs.runs[i]) assertEquals(ours.runs[i].get(tag), result, `${place}: ${tag}`);
    }
    assertEquals(ours.status, theirs.status);
  };
  await testWithPython(
    "3008.3",
    "packages are installed, held, upgraded and removed as by {}",
    (python) => alike(python, EACH),
  );
  await testWithPython(
    "3008.3",
    "packages of several states are installed as one as by {}",
    (python) => alike(python, MANY_AS_ONE),
  );
} else {
  const name =
    "packages are installed, held, upgraded and removed as by Python Salt (skipped: needs apt, dpkg and root)";
  Deno.test({ name, ignore: true, fn() {} });
}
