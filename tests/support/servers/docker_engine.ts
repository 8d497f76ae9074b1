/**
 * Docker's engine with two registries, in namespaces of its own and a temporary directory. It is the host's dockerd,
 * without rules of packet filters; docker_engine.sh says what is in it.
 * @module
 */

import { DockerEngine, enginePath } from "#lib/host/docker/engine.ts";
import { enginePlace } from "#lib/host/docker/engine_place.ts";
import { listOrEmpty, mapOrEmpty, onlyStrings } from "#lib/values/shape.ts";
import { compareStrings, isMap, str, type Value } from "#lib/values/value.ts";
import { serverProgram } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";
import { run } from "#tests/support/processes.ts";

const PROGRAMS = ["dockerd", "docker-registry", "busybox", "unshare"];

/** Why there can be no engine here; `undefined`: there can. */
export function noEngine(): string | undefined {
  const missing = PROGRAMS.find((name) => serverProgram(name) === undefined && !isIn("/bin", name));
  if (missing !== undefined) return `there is no ${missing}`;
  return Deno.uid() === 0 ? undefined : "not root";
}

function isIn(directory: string, name: string): boolean {
  try {
    return Deno.statSync(`${directory}/${name}`).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** A running engine. */
export interface TestEngine extends AsyncDisposable {
  /** For the option `docker.url`. */
  readonly url: string;
  /** Its directory, with `image.tar`, the archive of an image that has only busybox. */
  readonly directory: string;
  /** Asks it, past the code under test for modules. */
  readonly engine: DockerEngine;
  /** Every change of it is looked for: what has an id is remembered by its name. */
  look(): Promise<void>;
  /** A value in which ids are names, and what differs from run to run is left out, as the corpus has it. */
  normal(value: Value): Value;
}

const HERE = new URL(".", import.meta.url).pathname;

/** Starts it. */
export async function startDockerEngine(): Promise<TestEngine> {
  const directory = Deno.makeTempDirSync({ prefix: "docker_" });
  const image = await run(["sh", `${HERE}docker_image.sh`, `${directory}/files`, `${directory}/image.tar`]);
  if (image.code !== 0) throw new Error(image.err);
  const namespaces = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const child = new Deno.Command("unshare", {
    args: [...namespaces, "sh", `${HERE}docker_engine.sh`, directory],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const url = `unix://${directory}/docker.sock`;
  const engine = new DockerEngine(enginePlace(url), new AbortController().signal);
  const dispose = async () => {
    child.kill("SIGKILL");
    await child.status;
    Deno.removeSync(directory, { recursive: true });
  };
  try {
    await eventually(async () => {
      await engine.ask({ method: "GET", path: enginePath("version") });
      return true;
    }, { what: "an answer of dockerd", everyMs: 100 });
  } catch (error) {
    const log = Deno.readTextFileSync(`${directory}/engine.log`);
    await dispose();
    throw new Error(`dockerd does not start: ${log.slice(-4000)}`, { cause: error });
  }
  const names = new Map<string, string>();
  return {
    url,
    directory,
    engine,
    look: () => look(engine, names),
    normal: (value) => normal(value, { names, directory }),
    async [Symbol.asyncDispose]() {
      const all = await engine.ask({ method: "GET", path: enginePath("containers", "json"), query: { all: 1 } });
      for (const one of listOrEmpty(all).filter(isMap)) {
        const path = enginePath("containers", str(one.get("Id") ?? ""));
        await engine.ask({ method: "DELETE", path, query: { force: true } });
      }
      await dispose();
    },
  };
}

async function look(engine: DockerEngine, names: Map<string, string>): Promise<void> {
  const kinds = { container: ["containers", "json"], image: ["images", "json"], network: ["networks"] };
  for (const [kind, [first, ...more]] of Object.entries(kinds)) {
    const path = enginePath(first, ...more);
    const items = listOrEmpty(await engine.ask({ method: "GET", path, query: kind === "container" ? { all: 1 } : {} }));
    for (const item of items.filter(isMap)) {
      const many = [...onlyStrings(item.get("Names")), ...onlyStrings(item.get("RepoTags"))].sort();
      const name = (many[0] ?? str(item.get("Name") ?? "")).replace(/^\/+/, "");
      const id = str(item.get("Id") ?? "").replace("sha256:", "");
      if (!names.has(id)) names.set(id, `<${kind} ${name}>`);
    }
  }
}

const VOLATILE: ReadonlySet<Value> = new Set(
  ("Time_Elapsed Created CreatedAt Time_Created_Epoch Time_Created_Local Size Size_Human VirtualSize VirtualSize_Human Pid pid " +
    "PID PPID STIME C TIME DockerVersion ContainersDeleted SizeRootFs SandboxKey LastTagTime StartedAt FinishedAt SpaceReclaimed DNSNames")
    .split(" "),
);

interface Known {
  readonly names: ReadonlyMap<string, string>;
  readonly directory: string;
}

/** Lists that the engine makes of maps have another order each time. */
function inOrder(items: Value[]): Value[] {
  const isUnordered = items.length > 0 &&
    items.every((one) => isMap(one) && (one.has("Scope") || one.has("PrivatePort")));
  const key = (one: Value) =>
    ["Name", "PrivatePort", "IP"].map((name) => str(mapOrEmpty(one).get(name) ?? null)).join("");
  return isUnordered ? items.sort((a, b) => compareStrings(key(a), key(b))) : items;
}

/** As `normal` of tests/corpus/make_docker.py. */
function normal(value: Value, known: Known): Value {
  if (isMap(value)) {
    return new Map(
      [...value].map(([key, one]): [Value, Value] => {
        const isEmpty = one === null || one === 0 || one === "" || (Array.isArray(one) && one.length === 0);
        const shown = VOLATILE.has(key) && !isEmpty ? `<${str(key)}>` : normal(one, known);
        return [normal(str(key), known), shown];
      }),
    );
  }
  if (Array.isArray(value)) return inOrder([...value].map((one) => normal(one, known)));
  if (typeof value !== "string") return value;
  const label = (id: string) => {
    if (id.length === 64) return known.names.get(id) ?? "<id>";
    const found = [...known.names].find(([whole]) => whole.startsWith(id));
    return found === undefined ? id : `${found[1]}[:12]`;
  };
  return value.replaceAll(known.directory, "{dir}")
    .replace(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g, label)
    .replace(/(?<![0-9a-f])[0-9a-f]{12}(?![0-9a-f])/g, label)
    .replace(/(?<=sha256:)[0-9a-f]{5}(?![0-9a-f])/g, "<id>")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>")
    .replace(/^Up .*/, "Up")
    .replace(/^(Exited \(\d+\)) .*/, "$1");
}
