/**
 * Execution module `docker`: images are made of a directory with a Dockerfile, or of a container.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`; docs.docker.com, "Docker Engine API v1.41".
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { contextPaths } from "#lib/host/docker/build_context.ts";
import { enginePath } from "#lib/host/docker/engine.ts";
import { allLoginHeaders } from "#lib/host/docker/registry_logins.ts";
import { exists, isDirectory, isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { splitWhitespace } from "#lib/text/split_lines.ts";
import { withoutEndSlashes } from "#lib/values/python_text.ts";
import { dumpJson } from "#lib/values/json.ts";
import { listUnder, mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, truthy, type ValueMap } from "#lib/values/value.ts";
import { archiveOf } from "./archives.ts";
import { engineOf } from "./connection.ts";
import { tagOf } from "./images.ts";
import { elapsedSince } from "./lookups.ts";
import { errorDetail, knownImages, messagesOf, notePull } from "./pulling.ts";

/** What is sent of a source: the archive of a directory; of a URL nothing, because the engine fetches it. */
function sourceOf(path: string, dockerfile: string, context: JobContext) {
  if (/^(https?:\/\/|git:\/\/|github\.com\/|git@)/.test(path)) return { query: { remote: path } };
  if (!isDirectory(path)) {
    throw new CommandError("Unable to perform build: You must specify a directory to build in path");
  }
  const headers = { "Content-Type": "application/x-tar" };
  const archive = archiveOf({ directory: path, paths: contextPaths(path, dockerfile) }, context);
  return { query: {}, headers, body: ReadableStream.from(archive) };
}

/** Notes the intermediate containers, and the image that was made. */
function noteBuild(result: ValueMap, message: ValueMap): void {
  const text = message.get("stream");
  if (typeof text !== "string") return;
  const last = splitWhitespace(text).at(-1) ?? "";
  if (text.includes("Running in")) listUnder(result, "Intermediate_Containers").push(last);
  if (text.includes("Successfully built")) result.set("Id", last);
}

/** @throws {InvocationError} If one of them is missing. */
function imageTag(repository: string | null, tag: string | null): string | undefined {
  if (!repository && tag) throw new InvocationError("If tagging, both a repository and tag are required");
  return repository && tag ? `${repository}:${tag}` : undefined;
}

/** A Dockerfile as the engine takes it: a path within the directory. */
function dockerfileOf(path: string, dockerfile: string | null): string | undefined {
  if (dockerfile === null) return undefined;
  const above = `${withoutEndSlashes(path)}/`;
  return dockerfile.startsWith(above) ? dockerfile.slice(above.length) : dockerfile;
}

export const build: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make an image of a directory with a Dockerfile, or of a URL. cache=False makes all steps anew; rm=False keeps the containers of the\n" +
      "steps; dockerfile is another file of the directory; buildargs a map of its arguments. fileobj is not supported. Return Id, Image,\n" +
      "Time_Elapsed; api_response=True adds the engine's messages.",
    "docker.build /path/to/docker/build/dir",
    "docker.build /path/to/docker/build/dir myimage mytag dockerfile=Dockerfile.different",
  ),
  permissions: "all",
  params: {
    path: p.str(null),
    repository: p.str(null),
    tag: p.str(null),
    cache: p.bool(true),
    rm: p.bool(true),
    api_response: p.bool(false),
    fileobj: p.any(null),
    dockerfile: p.str(null),
    buildargs: p.dict(null),
  },
  async run({ path, repository, tag, cache, rm, api_response, fileobj, dockerfile, buildargs }, context) {
    const wanted = imageTag(repository, tag);
    if (fileobj !== null) {
      throw new InvocationError("fileobj is an object of Python: write the Dockerfile to a directory");
    }
    if (path === null) throw new InvocationError("Either path or fileobj needs to be provided.");
    if (dockerfile !== null && isDirectory(path) && !exists(`${path}/${dockerfile}`) && !isFile(dockerfile)) {
      throw new CommandError(`There is no ${dockerfile} in ${path}`);
    }
    const engine = await engineOf(context);
    const known = await knownImages(engine);
    const { query, ...source } = sourceOf(path, dockerfileOf(path, dockerfile) ?? "Dockerfile", context);
    const begun = performance.now();
    const messages = await messagesOf(engine, {
      method: "POST",
      path: enginePath("build"),
      ...source,
      headers: { ...source.headers, ...await allLoginHeaders(context) },
      query: {
        ...query,
        t: wanted,
        q: false,
        nocache: !cache,
        rm,
        dockerfile: dockerfileOf(path, dockerfile),
        buildargs: buildargs === null ? undefined : dumpJson(buildargs),
      },
    });
    const result = elapsedSince(begun);
    for (const message of messages) {
      notePull(result, message, known);
      noteBuild(result, message);
    }
    if (!result.has("Id")) {
      const errors = messages.map(errorDetail).filter((text) => text !== undefined);
      const reasons = errors.length === 0 ? "" : `. Error(s) follow:\n\n${errors.join("\n\n")}`;
      throw new CommandError(`Build failed for ${path}${reasons}`);
    }
    const tags = await tagOf(engine, str(result.get("Id") ?? ""), true);
    if (truthy(tags)) result.set("Image", tags);
    else if (wanted !== undefined) result.set("Warning", `Failed to tag image as ${wanted}`);
    if (api_response) result.set("API_Response", messages);
    if (rm) result.delete("Intermediate_Containers");
    return result;
  },
});

export const commit: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make an image of a container. Return its Id and Time_Elapsed.",
    "docker.commit mycontainer myuser/myimage mytag",
  ),
  permissions: "all",
  params: { name: p.str(), repository: p.str(), tag: p.str("latest"), message: p.str(null), author: p.str(null) },
  async run({ name, repository, tag, message, author }, context) {
    const begun = performance.now();
    const answer = mapOrEmpty(
      await (await engineOf(context)).ask({
        method: "POST",
        path: enginePath("commit"),
        query: { container: name, repo: repository, tag, comment: message, author, pause: true },
        json: map({}),
        timeoutS: null,
      }),
    );
    const id = answer.get("Id");
    if (id === undefined) throw new CommandError("No image ID was returned in API response");
    return elapsedSince(begun).set("Id", id);
  },
});
