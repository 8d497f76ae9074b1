/**
 * Execution module `docker`: what images there are; they are tagged and removed.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { type DockerEngine, DockerError, enginePath } from "#lib/host/docker/engine.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { listOrEmpty, mapOrEmpty, onlyStrings } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { engineOf } from "./connection.ts";
import { containers, imageId, imagesById, imageTags, inspectImage, localTime, withSizes } from "./lookups.ts";

const NAME = { name: p.str() };

export const images: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the images that have tags, by id; all=True: all. verbose=True adds what inspect_image says, as `Info`.",
    "docker.images",
    "docker.images all=True",
  ),
  permissions: "all",
  params: { verbose: p.bool(false) },
  varKwargs: "kwargs",
  keywords: ["all"],
  async run({ verbose }, context, { kwargs }) {
    const engine = await engineOf(context);
    const found = await imagesById(engine, truthy(kwargs.get("all")));
    if (verbose) {
      for (const [id, one] of found) if (isMap(one)) one.set("Info", await inspectImage(engine, str(id)));
    }
    return found;
  },
});

export const list_tags: ModuleFunction<JobContext> = fn({
  doc: describe("Return the tags of all images.", "docker.list_tags"),
  permissions: "all",
  params: {},
  run: async (_, context) => await imageTags(await engineOf(context)),
});

export const inspect_image: ModuleFunction<JobContext> = fn({
  doc: describe("Return what the engine says about an image.", "docker.inspect_image busybox"),
  permissions: "all",
  params: NAME,
  run: async ({ name }, context) => await inspectImage(await engineOf(context), name),
});

export const resolve_image_id: ModuleFunction<JobContext> = fn({
  doc: describe("Return the id of an image; False: there is none.", "docker.resolve_image_id foo:1.0"),
  permissions: "all",
  params: NAME,
  run: async ({ name }, context) => await imageId(await engineOf(context), name),
});

export const resolve_tag: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the first tag of an image, or its id if it has none; all=True: all tags. False: there is none.",
    "docker.resolve_tag busybox",
    "docker.resolve_tag centos:7 all=True",
  ),
  permissions: "all",
  params: NAME,
  varKwargs: "kwargs",
  keywords: ["all"],
  async run({ name }, context, { kwargs }) {
    return await tagOf(await engineOf(context), name, truthy(kwargs.get("all")));
  },
});

/** The tag of an image, or all of them; `false`: there is no image. */
export async function tagOf(engine: DockerEngine, name: string, all: boolean): Promise<Value> {
  try {
    const image = await inspectImage(engine, name);
    const tags = onlyStrings(image.get("RepoTags"));
    if (tags.length > 0) return all ? tags : tags[0];
    const id = image.get("Id") ?? null;
    return all ? [id] : id;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return false;
  }
}

const SHELL_PREFIX = /^\/bin\/sh -c (?:#\(nop\) )?/;

function step(item: ValueMap): ValueMap {
  const shown: ValueMap = new Map();
  for (const [key, value] of item) {
    if (key === "CreatedBy") {
      shown.set("Command", truthy(value) ? str(value).replace(SHELL_PREFIX, "") : "FROM scratch");
    } else if (key === "Created") shown.set("Time_Created_Epoch", value);
    else shown.set(key, value);
  }
  const epoch = shown.get("Time_Created_Epoch");
  if (epoch !== undefined) shown.set("Time_Created_Local", localTime(epoch));
  return withSizes(shown, "Size");
}

export const history: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the steps in which an image was made, the first one first; quiet=True: only their commands.",
    "docker.history busybox",
  ),
  permissions: "all",
  params: { ...NAME, quiet: p.bool(false) },
  async run({ name, quiet }, context) {
    const engine = await engineOf(context);
    const answer = await engine.ask({ method: "GET", path: enginePath("images", name, "history") });
    const steps = listOrEmpty(answer).filter(isMap).reverse().map(step);
    return quiet ? steps.map((one) => one.get("Command") ?? null) : steps;
  },
});

export const layers: ModuleFunction<JobContext> = fn({
  doc: describe("Return the ids of the layers of an image, the lowest first.", "docker.layers centos:7"),
  permissions: "all",
  params: NAME,
  async run({ name }, context) {
    const engine = await engineOf(context);
    try {
      const answer = await engine.ask({ method: "GET", path: enginePath("images", name, "history") });
      const ids = listOrEmpty(answer).filter(isMap).map((one) => str(one.get("Id") ?? ""));
      return ids.reverse().map((id) => id.replace(/^sha256:/, "").slice(0, id === "<missing>" ? undefined : 12));
    } catch (error) {
      if (!(error instanceof DockerError)) throw error;
      throw new CommandError(`Image '${name}' not found`, { cause: error });
    }
  },
});

/** What depends on an image: the names of containers, and short ids of images. */
async function dependants(engine: DockerEngine, name: string): Promise<ValueMap> {
  const id = (await inspectImage(engine, name)).get("Id");
  const using: string[] = [];
  for (const [container, one] of await containers(engine, { all: true })) {
    if (!isMap(one) || str(container) === "" || one.get("ImageID") !== id) continue;
    using.push(...onlyStrings(one.get("Names")).map((text) => text.replace(/^\/+/, "")));
  }
  const children = [...await imagesById(engine, true)].filter(([, one]) => mapOrEmpty(one).get("ParentId") === id);
  return map({ Containers: using, Images: children.map(([child]) => str(child).slice(0, 12)) });
}

export const depends: ModuleFunction<JobContext> = fn({
  doc: describe("Return the Containers and Images that depend on an image.", "docker.depends myimage"),
  permissions: "all",
  params: NAME,
  run: async ({ name }, context) => await dependants(await engineOf(context), name),
});

/** Gives an image one more name; `repo` is it without its tag. */
export async function tagImage(
  engine: DockerEngine,
  name: string,
  repo: string,
  tag: string,
  force = false,
): Promise<true> {
  const id = str((await inspectImage(engine, name)).get("Id") ?? "");
  const query = { tag, repo, force: force ? 1 : 0 };
  await engine.ask({ method: "POST", path: enginePath("images", id, "tag"), query });
  return true;
}

export const tag: ModuleFunction<JobContext> = fn({
  doc: describe("Tag an image. Return True.", "docker.tag 0123456789ab myrepo/mycontainer mytag"),
  permissions: "all",
  params: { ...NAME, repository: p.str(), tag: p.str("latest"), force: p.bool(false) },
  run: async ({ name, repository, tag, force }, context) =>
    await tagImage(await engineOf(context), name, repository, tag, force),
});

/** The texts of a refused removal. */
async function refusal(engine: DockerEngine, name: string, { status, explanation }: DockerError): Promise<string[]> {
  if (status !== 409) return [`Error ${status}: ${explanation}`];
  const found = await dependants(engine, name);
  const named = (kind: string) => listOrEmpty(found.get(kind)).map(str).join(", ");
  const users = [
    ...named("Containers") === "" ? [] : [`container(s): ${named("Containers")}`],
    ...named("Images") === "" ? [] : [`image(s): ${named("Images")}`],
  ];
  return [explanation, ...users.length === 0 ? [] : [`Image is in use by ${users.join(" and ")}`]];
}

/** Removes images; the map has what is no longer there, and why others are. */
async function removeImages(
  engine: DockerEngine,
  names: readonly string[],
  { force, prune }: { readonly force: boolean; readonly prune: boolean },
): Promise<ValueMap> {
  const [imagesBefore, tagsBefore] = [await imagesById(engine, true), await imageTags(engine)];
  const errors: string[] = [];
  for (const name of names) {
    const id = str((await inspectImage(engine, name)).get("Id") ?? "");
    try {
      await engine.ask({ method: "DELETE", path: enginePath("images", id), query: { force, noprune: !prune } });
    } catch (error) {
      if (!(error instanceof DockerError)) throw error;
      errors.push(...await refusal(engine, name, error));
    }
  }
  const [imagesAfter, tagsAfter] = [await imagesById(engine, true), await imageTags(engine)];
  return map({
    Layers: [...imagesBefore.keys()].filter((id) => !imagesAfter.has(id)),
    Tags: tagsBefore.filter((tag) => !tagsAfter.includes(tag)),
    retcode: errors.length > 0 ? 1 : 0,
    ...errors.length > 0 && { Errors: errors },
  });
}

export const rmi: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove images. force=True also those that stopped containers have; prune=False leaves untagged parents. Return the Layers and\n" +
      "Tags that were removed, and Errors with retcode 1.",
    "docker.rmi busybox",
    "docker.rmi busybox force=True",
  ),
  permissions: "all",
  params: {},
  varArgs: "names",
  varKwargs: "kwargs",
  keywords: ["force", "prune"],
  run: async (_, context, { args, kwargs }) =>
    await removeImages(await engineOf(context), args.map(str), {
      force: truthy(kwargs.get("force")),
      prune: truthy(kwargs.get("prune") ?? true),
    }),
});

export const dangling: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the short ids of the images that have no tag and no child. prune=True removes them, and returns what came of it by image.",
    "docker.dangling",
    "docker.dangling prune=True",
  ),
  permissions: "all",
  params: { prune: p.bool(false), force: p.bool(false) },
  async run({ prune, force }, context) {
    const engine = await engineOf(context);
    const all = await imagesById(engine, true);
    const parents = [...all.values()].map((one) => mapOrEmpty(one).get("ParentId"));
    const untagged = (one: Value) =>
      onlyStrings(mapOrEmpty(one).get("RepoTags")).every((tag) => tag === "<none>:<none>");
    const unused = [...all].filter(([id, one]) => !parents.includes(id) && untagged(one)).map(([id]) => str(id));
    const short = (id: string) => id.replace(/^sha256:/, "").slice(0, 12);
    if (!prune) return unused.map(short);
    const result: ValueMap = new Map();
    for (const id of unused) {
      try {
        result.set(short(id), map({ Removed: await removeImages(engine, [id], { force, prune: true }) }));
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        result.set(short(id), map({ Comment: error.message, Removed: false }));
      }
    }
    return result;
  },
});

const SEARCH_NAMES: Readonly<Record<string, string>> = {
  description: "Description",
  is_official: "Official",
  is_trusted: "Trusted",
  star_count: "Stars",
};

export const search: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Search a registry for images. Return maps by name; official=True or trusted=True: only such.",
    "docker.search centos",
    "docker.search centos official=True",
  ),
  permissions: "all",
  params: { ...NAME, official: p.bool(false), trusted: p.bool(false) },
  async run({ name, official, trusted }, context) {
    const engine = await engineOf(context);
    const path = enginePath("images", "search");
    const found = listOrEmpty(await engine.ask({ method: "GET", path, query: { term: name } })).filter(isMap);
    if (found.length === 0) throw new CommandError(`No images matched the search string '${name}'`);
    const results = found.map((item): [Value, ValueMap] => [
      item.get("name") ?? null,
      new Map(
        [...item].filter(([key]) => key !== "name").map((
          [key, value],
        ): [Value, Value] => [SEARCH_NAMES[str(key)] ?? key, value]),
      ),
    ]);
    const wanted = [...official ? ["Official"] : [], ...trusted ? ["Trusted"] : []];
    return new Map(results.filter(([, item]) => wanted.length === 0 || wanted.some((key) => truthy(item.get(key)))));
  },
});
