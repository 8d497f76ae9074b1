/**
 * State module `file`: special files, files that are told in base64, and the beacon that watches a managed file.
 * Source: Salt 3008.3 `salt/states/file.py` mknod, decode, mod_beacon.
 * @module
 */

import { permissionsAlone } from "./permissions.ts";
import { CommandError } from "#lib/errors.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, stateResult } from "#lib/plugins/state_module.ts";
import { isMap, map, str, truthy, type Value } from "#lib/values/value.ts";

/** A kind of special file: its test, and Salt's words for it. */
interface Kind {
  readonly test: string;
  readonly word: string;
  readonly numbered: boolean;
}

const KINDS: Readonly<Record<string, Kind>> = {
  c: { test: "file.is_chrdev", word: "character device", numbered: true },
  b: { test: "file.is_blkdev", word: "block device", numbered: true },
  p: { test: "file.is_fifo", word: "fifo pipe", numbered: false },
};

function title(word: string): string {
  return word[0].toUpperCase() + word.slice(1);
}

export const mknod: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a special file exists.

name
    The absolute path.

ntype
    c for a character device, b for a block device, p for a FIFO.

major, minor
    The numbers of a device.

user, group, mode
    Owner, group, and mode: 0600 by default.`,
  params: {
    name: p.str(),
    ntype: p.str(),
    major: p.int(0),
    minor: p.int(0),
    user: p.any(null),
    group: p.any(null),
    mode: p.any("0600"),
  },
  run: async ({ name: givenName, ntype, major, minor, ...wanted }, context) => {
    const name = expandUser(givenName);
    if (name === "") return failState(name, "Must provide name to file.mknod");
    if (!Object.hasOwn(KINDS, ntype)) {
      return failState(
        name,
        `Node type unavailable: '${ntype}'. Available node types are character ('c'), block ('b'), and pipe ('p')`,
      );
    }
    const { test, word, numbered } = KINDS[ntype];
    if (await context.call("file.file_exists", [name]) === true) {
      return failState(name, `File ${name} exists and is not a ${word}. Refusing to continue`);
    }
    if (await context.call(test, [name]) !== true) {
      if (context.test) return { ...startResult(name, null), comment: `${title(word)} ${name} is set to be created` };
      const { user, group, mode } = wanted;
      return stateResult(await context.call("file.mknod", [name, ntype, major, minor, user, group, mode]));
    }
    if (numbered) {
      const numbers = await context.call("file.get_devmm", [name]);
      const [is, has] = Array.isArray(numbers) ? numbers : [null, null];
      if (is !== major || has !== minor) {
        return failState(
          name,
          `${title(word)} ${name} exists and has a different major/minor ${str(is)}/${str(has)}. Refusing to continue`,
        );
      }
    }
    const ret = await permissionsAlone(name, wanted, context);
    return ret.changes.size > 0 ? ret : { ...ret, comment: `${title(word)} ${name} is in the correct state` };
  },
});

/**
 * The base64 text, of the argument or of pillar.
 * @throws {CommandError}
 */
async function encodedOf(encoded: Value, pillar: Value, context: StateContext): Promise<Value> {
  if (!truthy(encoded) && !truthy(pillar)) {
    throw new CommandError("Specify either the 'encoded_data' or 'contents_pillar' argument.");
  }
  if (truthy(encoded) && truthy(pillar)) {
    throw new CommandError("Specify only one 'encoded_data' or 'contents_pillar' argument.");
  }
  if (truthy(encoded)) return encoded;
  const contents = await context.call("pillar.get", [pillar, false], map({ unmask: true }));
  if (contents === false) throw new CommandError("Pillar data not found.");
  return contents;
}

export const decode: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a file has contents that are given in base64.

name
    The absolute path.

encoded_data
    The contents.

contents_pillar
    The pillar key of the contents.

encoding_type : base64
    The encoding; there is no other.

checksum : md5
    The digest to compare contents by, which the changes show: md5, sha256 or sha512.`,
  params: {
    name: p.str(),
    encoded_data: p.any(null),
    contents_pillar: p.any(null),
    encoding_type: p.str("base64"),
    checksum: p.str("md5"),
  },
  run: async ({ name, encoded_data, contents_pillar, checksum }, context) => {
    const content = await encodedOf(encoded_data, contents_pillar, context);
    const ret = startResult(name);
    const digest = () => context.call("hashutil.digest_file", [name, checksum]);
    if (await context.call("file.file_exists", [name]) === true) {
      const decoded = await context.call("hashutil.base64_decodestring", [content]);
      const [wanted, is] = [await context.call("hashutil.digest", [decoded, checksum]), await digest()];
      if (wanted === is) return { ...ret, comment: "File is in the correct state." };
      ret.changes = map({ old: is, new: wanted });
    }
    if (context.test) return { ...ret, result: null, comment: "File is set to be updated." };
    const done = truthy(await context.call("hashutil.base64_decodefile", [content, name]));
    if (ret.changes.size === 0) ret.changes = map({ old: null, new: await digest() });
    return { ...ret, result: done, comment: "File was updated." };
  },
});

export const mod_beacon: ModuleFunction<StateContext> = stateFn({
  doc: "Set up the beacon that watches the path of a state, as `beacon` of file.managed and file.directory does.\n\n" +
    "name\n    The path.\n\nsfun\n    The function of the state.",
  params: { name: p.str(), sfun: p.str(null) },
  varKwargs: "kwargs",
  run: async ({ name, sfun }, context, { kwargs }) => {
    if (sfun !== "managed" && sfun !== "directory") {
      return failState(name, `file.${sfun ?? "None"} does not work with the beacon state function`);
    }
    if (!truthy(kwargs.get("beacon"))) return { ...startResult(name), comment: "Not adding beacon." };
    const given = kwargs.get("beacon_data");
    const data = isMap(given) ? given : new Map<Value, Value>();
    const or = (key: string, fallback: Value): Value => data.get(key) ?? fallback;
    const watched = map({
      mask: or("mask", ["create", "delete", "modify"]),
      ...sfun === "directory"
        ? { auto_add: or("auto_add", true), recurse: or("recurse", true), exclude: or("exclude", []) }
        : {},
    });
    return stateResult(
      await context.state(
        "beacon.present",
        map({
          name: `beacon_inotify_${name}`,
          files: new Map([[name, watched]]),
          interval: or("interval", 60),
          coalesce: or("coalesce", false),
          beacon_module: "inotify",
        }),
      ),
    );
  },
});
