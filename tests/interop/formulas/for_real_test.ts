/**
 * Public formulas really applied, by our `salt-call` and by Python Salt. Each has its own root directory: the host's
 * with an overlay, in namespaces without a network, with packages of a local repository and a systemd made of files.
 * Each applies the formulas twice. The returns of the states are equal, and so are the overlays: each file that was
 * written, changed, or removed.
 *
 * `SALT_FORMULAS_SLS=redis,ntp` applies only these SLS files.
 * @module
 */

import { YamlError } from "#lib/errors.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { which } from "#lib/programs/which.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { AptRoot } from "#tests/support/calls/apt_root.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { formulasArchive, unpackFormulas } from "#tests/support/files/formulas.ts";
import { run } from "#tests/support/processes.ts";
import { OURS, type Salt, testWithPython } from "#tests/interop/salts.ts";
import { PACKAGES, PILLAR, SLS } from "./host.ts";

const INTEROP = decodeURIComponent(new URL("../", import.meta.url).pathname);

/** Options of `unshare`: the namespaces end with the processes in them. */
const WITHIN = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"];

/** Files that are not compared: caches, logs, and files that contain the time at which they were written. */
const ASIDE = [
  /^(?:dev|mnt|proc|root|run|tmp)[/ ]/,
  /^var\/(?:cache|log|lib\/apt)[/ ]/,
  /^var\/lib\/dpkg\/(?:available|lock|triggers|.*-old)/,
  // Files of the host's own packages are removed first.
  /^var\/lib\/dpkg\/info\/\S* c /,
  /\/__pycache__(?:[/ ])/,
  /^usr\/lib\/python3/,
];

/** Why formulas cannot be applied here; `undefined` if they can. */
async function missing(): Promise<string | undefined> {
  if (formulasArchive() === undefined) return "no archive of formulas; SALT_FORMULAS_ARCHIVE names it";
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return "namespaces need root on Linux";
  if (["apt-get", "dpkg-deb", "unshare", "chroot"].some((name) => which(name) === undefined)) {
    return "needs apt, dpkg, unshare and chroot";
  }
  const layer =
    "mount -t tmpfs t /mnt && mkdir /mnt/a /mnt/b /mnt/c && mount -t overlay o -o lowerdir=/,upperdir=/mnt/a,workdir=/mnt/b /mnt/c";
  const { code } = await run([...WITHIN, "sh", "-c", layer]);
  return code === 0 ? undefined : "this host gives no namespaces with layered directories";
}

interface Applied {
  readonly runs: readonly (readonly string[])[];
  /** The commands to systemd, without queries. */
  readonly calls: string;
  /** The files of the overlay: path, kind, mode, owner, and the hash or the target. */
  readonly tree: readonly string[];
}

const missingReason = await missing();
if (missingReason !== undefined) {
  const name = `formulas really applied give the results and the trees of Python Salt (skipped: ${missingReason})`;
  Deno.test({ name, ignore: true, fn() {} });
} else {
  await testWithPython(
    "3008.3",
    "formulas really applied give the results and the trees of {}",
    async (python) => {
      using repository = new AptRoot(PACKAGES);
      const root = await Deno.makeTempDir({ prefix: "really_" });
      try {
        const prepared = await prepare(root);
        const apply = (salt: Salt, name: string) => applied(salt, `${root}/${name}`, prepared, repository.path);
        // At the same time: each spends most of the time waiting for programs.
        const [theirs, ours] = await Promise.all([apply(python, "python"), apply(OURS, "ours")]);
        for (const [i, one] of theirs.runs.entries()) {
          assertEquals(ours.runs[i].join("\n"), one.join("\n"), `run ${i + 1}`);
        }
        assertEquals(ours.calls, theirs.calls);
        assertEquals(ours.tree.join("\n"), theirs.tree.join("\n"));
        if (!Deno.env.has("SALT_FORMULAS_SLS")) {
          assert(theirs.runs[0].length > 100 && theirs.tree.length > 150, theirs.tree.join("\n"));
          assertEquals(theirs.runs[0].filter((line) => / False '/.test(line)), []);
        }
        const hash = hashHex(new TextEncoder().encode(ours.tree.join("\n")), "sha256");
        const counts = `${ours.runs[0].length} states applied, ${ours.tree.length} files equal: ${hash}\n`;
        Deno.stdout.writeSync(new TextEncoder().encode(counts));
      } finally {
        await Deno.remove(root, { recursive: true });
      }
    },
  );
}

/**
 * Unpacks the formulas, and writes their pillar.
 * @returns The directories of the formulas.
 */
async function prepare(root: string): Promise<{ readonly roots: readonly string[]; readonly pillar: ValueMap }> {
  const selected = new Set(SLS.map((name) => `${name.split(".", 1)[0]}-formula`));
  await Deno.mkdir(`${root}/src`);
  const all = await unpackFormulas(formulasArchive() ?? "", `${root}/src`);
  const formulas = all.filter(({ name }) => selected.has(name));
  assertEquals(formulas.length, selected.size);
  const pillar: ValueMap = new Map();
  for (const { pillars } of formulas) {
    for (const [key, value] of pillarOf(pillars.get("pillar.example") ?? "") ?? []) pillar.set(key, value);
  }
  for (const [key, value] of map(PILLAR)) pillar.set(key, value);
  return { roots: formulas.map((formula) => formula.root), pillar };
}

/** An example that is plain YAML. */
function pillarOf(text: string): ValueMap | undefined {
  try {
    const value = loadYaml(text);
    return isMap(value) ? value : undefined;
  } catch (error) {
    if (error instanceof YamlError) return undefined;
    throw error;
  }
}

async function applied(
  salt: Salt,
  home: string,
  { roots, pillar }: { readonly roots: readonly string[]; readonly pillar: ValueMap },
  repository: string,
): Promise<Applied> {
  for (const directory of ["etc", "pillar", "layers", "roots"]) {
    await Deno.mkdir(`${home}/${directory}`, { recursive: true });
  }
  const config = {
    id: "web1",
    root_dir: "/mnt/home",
    file_client: "local",
    file_roots: { base: roots },
    pillar_roots: { base: ["/mnt/home/pillar"] },
    enable_fqdns_grains: false,
  };
  await Deno.writeTextFile(`${home}/etc/minion`, dumpJson(map(config)));
  await Deno.writeTextFile(`${home}/pillar/top.sls`, "base: {'*': [all]}\n");
  await Deno.writeTextFile(`${home}/pillar/all.sls`, `#!json\n${dumpJson(pillar)}\n`);
  for (const name of ["recorded", "repository"]) await Deno.mkdir(`${home}/${name}`);
  for (const { name } of Deno.readDirSync(`${INTEROP}recorded_host`)) {
    await Deno.copyFile(`${INTEROP}recorded_host/${name}`, `${home}/recorded/${name}`);
    await Deno.chmod(`${home}/recorded/${name}`, 0o755);
  }
  for (const { name } of Deno.readDirSync(`${repository}/repository`)) {
    await Deno.copyFile(`${repository}/repository/${name}`, `${home}/repository/${name}`);
  }
  const sls = Deno.env.get("SALT_FORMULAS_SLS") ?? SLS.join(",");
  const call = [...salt.command("salt-call"), "-c", "/mnt/home/etc", "--local", "--out=json", "-l", "warning"];
  const visible = [
    `${INTEROP}../..`,
    Deno.execPath().replace(/\/[^/]*$/, ""),
    call[0].replace(/\/[^/]*$/, ""),
    ...roots,
  ];
  const environment = [
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    `HOME=${Deno.env.get("HOME") ?? "/root"}`,
    "LANG=C.UTF-8",
    `HOME_OF=${home}`,
    // Our executables unpack themselves beside the layer, because the layer's files are compared.
    "SALT_UNPACK_DIR=/mnt/home/unpacked",
    `VISIBLE=${visible.map((path) => Deno.realPathSync(path)).join(" ")}`,
  ];
  const within = [...WITHIN, "env", "-i", ...environment, "sh", `${home}/recorded/within.sh`];
  const { code, err } = await run([...within, ...call, "state.apply", sls], 110_000);
  assertEquals(code, 0, err);
  const runs = [];
  for (const i of [1, 2]) {
    const read = (name: string) => Deno.readTextFile(`${home}/${name}.${i}`);
    runs.push(linesOf(await read("out"), await read("err")));
  }
  const tree = (await Deno.readTextFile(`${home}/tree`)).split("\n");
  const calls = await Deno.readTextFile(`${home}/calls`);
  return { runs, calls, tree: tree.filter((line) => line !== "" && !ASIDE.some((one) => one.test(line))) };
}

/** The results in their order, one line for each. */
function linesOf(out: string, err: string): string[] {
  assert(out.trim() !== "", err);
  const answer = parseJson(out);
  const results = isMap(answer) ? answer.get("local") ?? null : answer;
  if (!isMap(results)) return (Array.isArray(results) ? results : [results]).map(str);
  const order = (result: Value) => Number(isMap(result) ? result.get("__run_num__") ?? 0 : 0);
  return [...results].sort(([, a], [, b]) => order(a) - order(b)).map(([tag, result]) => {
    const field = (name: string) => isMap(result) ? result.get(name) ?? null : null;
    return `${str(tag)}: ${str(field("result"))} ${repr(field("comment"))} ${repr(sorted(field("changes")))}`;
  });
}

/** Changes without process ids, sorted: Python lists packages in the order of a set. */
function sorted(changes: Value): Value {
  if (!isMap(changes)) return changes;
  const entries = [...changes].filter(([key]) => key !== "pid").map(([key, value]) => [str(key), value] as const);
  return new Map(entries.sort(([a], [b]) => a < b ? -1 : 1));
}
