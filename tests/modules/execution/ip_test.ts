/**
 * The module `ip` of Debian and of the Red Hat family returns the same, writes the same files and starts the same
 * programs as Python Salt: `corpus/ip.json`, made by `corpus/make_ip.py`. All files are below a directory of the test.
 * @module
 */

import { debianIp } from "#modules/execution/_debian_ip.ts";
import { rhIp } from "#modules/execution/_rh_ip.ts";
import { CommandError, PythonError } from "#lib/errors.ts";
import { invoke } from "#lib/plugins/call.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { listAt, mapAt, replaceIn } from "#tests/support/calls/call_cases.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const JOB = testContext();

function buildFiles(root: string, files: ValueMap): void {
  for (const [name, text] of files) {
    const path = `${root}/${str(name)}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    if (!path.endsWith("/")) Deno.writeTextFileSync(path, str(text));
  }
}

function filesBelow(root: string, prefix = ""): [string, string][] {
  return [...Deno.readDirSync(`${root}/${prefix}`)].flatMap(({ name, isDirectory }): [string, string][] =>
    isDirectory
      ? filesBelow(root, `${prefix}${name}/`)
      : [[prefix + name, Deno.readTextFileSync(`${root}/${prefix}${name}`)]]
  );
}

/** The error in the form of the corpus: the text of the two Python errors that states show, otherwise empty. */
function errorText(error: unknown): string {
  const shown = error instanceof PythonError && ["AttributeError", "KeyError"].includes(error.type);
  return shown ? `${error.type}: ${error.message}` : "";
}

async function outcome(one: ValueMap, files: ValueMap, grains: ValueMap): Promise<Value> {
  const root = Deno.makeTempDirSync({ prefix: "ip_" });
  try {
    buildFiles(root, files);
    const before = new Map(filesBelow(root));
    const calls: Value[] = [];
    const answers = mapAt(one, "answers");
    const call: JobContext["call"] = (name, args = [], kwargs = new Map()) => {
      calls.push([name, replaceIn(args, root, ""), kwargs]);
      return Promise.resolve(answers.get(name) ?? (name === "network.interfaces" ? new Map() : true));
    };
    const table: Readonly<Record<string, ModuleFunction<JobContext>>> = one.get("module") === "rh_ip"
      ? rhIp(root)
      : debianIp(root);
    const name = str(one.get("fun") ?? "");
    const ours: ValueMap = new Map();
    try {
      const request = { name, args: [...listAt(one, "args")], kwargs: new Map(mapAt(one, "kwargs")) };
      const result = await invoke(table[name], { ...request, context: { ...JOB, grains, call } });
      ours.set("result", replaceIn(result, root, ""));
    } catch (error) {
      ours.set("error", replaceIn(errorText(error), root, ""));
    }
    ours.set("calls", calls);
    const written = filesBelow(root).filter(([path, text]) => before.get(path) !== text).sort();
    if (written.length > 0) ours.set("written", new Map(written));
    return ours;
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("the functions of ip return, write and call the same as those of Python Salt", async (t) => {
  const corpus = parseJson(Deno.readTextFileSync(new URL("../../corpus/ip.json", import.meta.url)));
  if (!isMap(corpus)) throw new TypeError("The corpus is no map");
  const [files, grains] = [listAt(corpus, "files"), listAt(corpus, "grains")];
  for (const [i, one] of listAt(corpus, "cases").entries()) {
    if (!isMap(one)) throw new TypeError(`Case ${i} is no map`);
    const at = (list: readonly Value[], key: string) => {
      const interfaces = list[Number(one.get(key))];
      return isMap(interfaces) ? interfaces : new Map();
    };
    const expected = Object.fromEntries(
      ["result", "error", "calls", "written"].flatMap((key) => one.has(key) ? [[key, one.get(key)]] : []),
    );
    const title = `${i} ${str(one.get("module") ?? "")}.${str(one.get("fun") ?? "")} ${str(mapAt(one, "kwargs"))}`;
    await t.step(title.slice(0, 110), async () => {
      assertEquals(await outcome(one, at(files, "files"), at(grains, "grains")), map(expected));
    });
  }
});

Deno.test("ip.get_routes of Debian shows the script of removed routes, even if the script of added routes is missing", () =>
  withTemporaryDirectory(async (root) => {
    buildFiles(root, map({ "etc/network/if-down.d/route-eth0": "#!/bin/sh\nx\n" }));
    const given = { name: "get_routes", args: ["eth0"], kwargs: new Map<Value, Value>(), context: JOB };
    assertEquals(await invoke(debianIp(root).get_routes, given), ["#!/bin/sh\n", "x\n"]);
  }));

Deno.test("ip.build_interface of Red Hat warns of parameters of bridges that the kernel does not take", () =>
  withTemporaryDirectory(async (root) => {
    buildFiles(root, map({ "etc/sysconfig/network-scripts/": "" }));
    const logged: string[] = [];
    const context: JobContext = {
      ...JOB,
      grains: map({ os: "AlmaLinux", os_family: "RedHat", osmajorrelease: 9, osrelease: "9.3" }),
      call: (name) =>
        name === "sysctl.persist" ? Promise.reject(new CommandError("no such key")) : Promise.resolve("bridge-utils"),
      log: (level, message) => logged.push(`${level}: ${message}`),
    };
    const given = { name: "build_interface", args: ["br0", "bridge", true], kwargs: map({ bypassfirewall: true }) };
    const lines = await invoke(rhIp(root).build_interface, { ...given, context });
    assertEquals(Array.isArray(lines) && lines.includes('DEVICE="br0"'), true);
    assertEquals(logged.filter((line) => line.startsWith("warning: Failed to set sysctl: net.bridge.")).length, 3);
  }));
