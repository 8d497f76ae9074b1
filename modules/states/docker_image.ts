/**
 * State module `docker_image`: images that are pulled, built or loaded, or are gone.
 * Source: Salt 3006.28 `salt/states/docker_image.py`, which Salt 3008 has no longer.
 * @module
 */

import { ContainerWork, dockerFailure, NEEDS_DOCKER } from "#modules/states/docker_container/work.ts";
import { CLIENT_TIMEOUT_S, DockerError } from "#lib/host/docker/engine.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult, stateResult } from "#lib/plugins/state_module.ts";
import { asList, listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export { NEEDS_DOCKER as virtual };

/** What `docker.build` may be given besides. */
const BUILD_ARGUMENTS = ["cache", "rm", "api_response", "buildargs"];

/** How an image is had. */
interface Source {
  readonly action: "built" | "loaded" | "pulled";
  /** The error's beginning. */
  readonly failure: string;
  readonly get: (work: ContainerWork) => Promise<ValueMap>;
  /** Whether what came of it is a change of the image that was there. */
  isChange(update: ValueMap, oldId: string): boolean;
}

/** Arguments of {@linkcode present} that say where the image is from. */
interface Given {
  readonly name: string;
  readonly tag: string | null;
  readonly image: string;
  readonly build: string | null;
  readonly load: string | null;
  readonly sls: Value;
  readonly base: string;
  readonly saltenv: Value;
  readonly pillar: Value;
  readonly dockerfile: string | null;
  readonly client_timeout: Value;
  readonly insecure_registry: boolean;
  readonly more: ValueMap;
}

function sourceOf(given: Given): Source {
  const { name, tag, image, build, load, sls, dockerfile, client_timeout, insecure_registry } = given;
  const short = (id: string) => id.replace(/^sha256:/, "").slice(0, 12);
  if (build !== null) {
    const chosen = [...mapOrEmpty(given.more.get("kwargs"))].filter(([key]) => BUILD_ARGUMENTS.includes(str(key)));
    const args = new Map([...chosen, ...map({ repository: name, tag, dockerfile })]);
    return {
      action: "built",
      failure: `Encountered error building ${build} as ${image}`,
      get: async (work) => mapOrEmpty(await work.call("build", [build], args)),
      isChange: (update, oldId) => str(update.get("Id") ?? "") !== short(oldId),
    };
  }
  if (sls !== null) {
    const { base, saltenv, pillar } = given;
    return {
      action: "built",
      failure: `Encountered error using SLS ${str(sls)} for building ${image}`,
      get: async (work) => {
        const kwargs = { repository: name, tag, base, mods: sls, saltenv, ...pillar !== null && { pillar } };
        return mapOrEmpty(await work.call("sls_build", [], kwargs));
      },
      isChange: (update, oldId) => short(str(update.get("Id") ?? "")) !== short(oldId),
    };
  }
  if (load !== null) {
    return {
      action: "loaded",
      failure: `Encountered error loading ${load} as ${image}`,
      get: async (work) => mapOrEmpty(await work.call("load", [load], { repository: name, tag })),
      isChange: (update) => truthy(update.get("Layers")),
    };
  }
  return {
    action: "pulled",
    failure: `Encountered error pulling ${image}`,
    get: async (work) => mapOrEmpty(await work.call("pull", [image], { client_timeout, insecure_registry })),
    isChange: (update) => truthy(mapOrEmpty(update.get("Layers")).get("Pulled")),
  };
}

/** Gets the image, and says what has changed. */
async function update(work: ContainerWork, given: Given, old: ValueMap | undefined): Promise<StateResult> {
  const { action, failure, get, isChange } = sourceOf(given);
  const { image, name } = given;
  if (work.context.test) return work.end(null, `Image ${image} will be ${action}`);
  try {
    const updated = await get(work);
    if (old === undefined || isChange(updated, str(old.get("Id") ?? ""))) {
      for (const [key, value] of updated) work.changes.set(key, value);
    }
    // A pull whose messages have errors did not bring the image.
    const errors = listOrEmpty(updated.get("Errors")).map(str);
    if (errors.length > 0) return work.end(false, `${failure}: ${errors.join("; ")}`);
    const tags = listOrEmpty(mapOrEmpty(await work.call("inspect_image", [image])).get("RepoTags"));
    if (tags.length === 0) work.warnings.push(`Image ${image} has no tag`);
  } catch (error) {
    if (error instanceof DockerError && error.status === 404 && work.changes.size > 0) {
      return work.end(false, `Image '${image}' was ${action}, but is not there`);
    }
    return work.end(false, `${failure}: ${dockerFailure(error)}`);
  }
  if (work.changes.size === 0) {
    return work.end(true, `Image '${action === "pulled" ? image : name}' was ${action}, but there were no changes`);
  }
  return work.end(true, `Image '${image}' was ${action}`);
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that an image is there.\n\nname\n    Its name, with a tag or without.\n\ntag\n    Its tag. Default: that of the name, else " +
    "`latest`.\n\nbuild\n    A directory with a Dockerfile that it is built of; needs `tag`.\n\nload\n    An archive of docker.save that it is " +
    "loaded from; needs `tag`.\n\nforce\n    Whether it is had again if it is there.\n\ndockerfile\n    Another file than Dockerfile." +
    "\n\nkwargs\n    A map with cache, rm, api_response and buildargs for docker.build.\n\nclient_timeout\n    Seconds for an answer of the " +
    "engine.\n\nsls\n    SLS files whose states it is made by, of the image `base`; needs `tag`. `saltenv` is their environment, `pillar` has values " +
    "that win over those of the pillar.",
  params: {
    name: p.str(),
    tag: p.str(null),
    build: p.str(null),
    load: p.str(null),
    force: p.bool(false),
    insecure_registry: p.bool(false),
    client_timeout: p.any(CLIENT_TIMEOUT_S),
    dockerfile: p.str(null),
    sls: p.any(null),
    base: p.str("opensuse/python"),
    saltenv: p.any("base"),
    pillarenv: p.any(null),
    pillar: p.any(null),
  },
  varKwargs: "kwargs",
  keywords: ["kwargs"],
  async run({ name, tag, build, load, sls, force, ...options }, context, { kwargs }) {
    const sources = [build, load, sls].filter((source) => source !== null);
    if (sources.length > 1) return failState(name, "Only one of 'build', 'load', or 'sls' is permitted.");
    if (sources.length === 1 && !tag) {
      return failState(name, "The 'tag' argument is required if any one of 'build', 'load', or 'sls' is used.");
    }
    const image = tag ? `${name}:${tag}` : name;
    const work = new ContainerWork(name, context);
    let old: ValueMap | undefined;
    try {
      old = mapOrEmpty(await work.call("inspect_image", [image]));
    } catch (error) {
      if (!(error instanceof DockerError) || error.status !== 404) return failState(name, dockerFailure(error));
    }
    if (old !== undefined && !force) return work.end(true, `Image ${image} already present`);
    return await update(work, { ...options, name, tag, build, load, sls, image, more: ownKeywords(kwargs) }, old);
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that images do not exist.\n\nname\n    The image.\n\nimages\n    A list of images, in place of `name`.\n\nforce\n    Whether " +
    "one that stopped containers have is removed.",
  params: { name: p.any(null), images: p.any(null), force: p.bool(false) },
  async run({ name, images, force }, context) {
    if (!truthy(name) && !truthy(images)) return failState(name, "One of 'name' and 'images' must be provided");
    const work = new ContainerWork(str(name ?? ""), context);
    const wanted = images === null ? [name] : asList(images);
    const tags: Value[] = [];
    for (const image of wanted) {
      const tag = await work.call("resolve_tag", [image]);
      if (tag !== false) tags.push(tag);
    }
    const listed = tags.map(str).join(", ");
    if (tags.length === 0) {
      return work.end(
        true,
        wanted.length === 1 ? `Image ${str(name)} is not present` : "All specified images are not present",
      );
    }
    if (context.test) {
      const one = `Image ${listed} will be removed`;
      return work.end(null, tags.length === 1 ? one : `The following images will be removed: ${listed}`);
    }
    const removed = mapOrEmpty(await work.call("rmi", tags, { force }));
    const left = listOrEmpty(await work.call("list_tags"));
    const failed = tags.filter((tag) => left.includes(tag));
    if (failed.length < tags.length) { for (const [key, value] of removed) work.changes.set(key, value); }
    if (failed.length === 0) {
      return work.end(
        true,
        tags.length === 1 ? `Image ${listed} was removed` : `The following images were removed: ${listed}`,
      );
    }
    if (failed.length < tags.length) {
      return work.end(false, `The following image(s) failed to be removed: ${failed.map(str).join(", ")}`);
    }
    const errors = listOrEmpty(removed.get("Errors")).map(str).join("; ");
    const reasons = errors === "" ? "" : `. The following errors were encountered: ${errors}`;
    return work.end(false, `None of the specified images were removed${reasons}`);
  },
});

export const mod_watch: ModuleFunction<StateContext> = stateFn({
  doc: "Called when a watched state has changed something: the image is had again.",
  params: { name: p.str(), sfun: p.str(null) },
  varKwargs: "kwargs",
  async run({ name, sfun }, context, { kwargs }) {
    if (sfun !== "present") {
      return { ...startResult(name, false), comment: `watch requisite is not implemented for ${str(sfun)}` };
    }
    const given = new Map([...kwargs, ["name", name], ["force", true]]);
    const result = await context.state("docker_image.present", given);
    return stateResult(isMap(result) ? result : new Map());
  },
});
