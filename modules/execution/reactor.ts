/**
 * Execution module `reactor`: the files of a minion's reactor. Not in Salt.
 * @module
 */

import { fileClientOf } from "#lib/files/client/open.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { mistakeText } from "#lib/reactor/rendering.ts";
import { map, str, type Value } from "#lib/values/value.ts";

export const explain: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return what reactor files would do about an event on this minion, and what is wrong with them. Nothing is done. The
minion's reactor (\`engines: [reactor]\`) reads its files with this function.

tag
    The tag of the event.

data
    Its data.

files
    The files, as the reactor's map names them: paths, globs of paths, salt:// and a path.`,
    "reactor.explain salt/beacon/web1/load/ '{id: web1}' files='[/etc/salt/reactor/load.sls]'",
  ),
  permissions: "all",
  params: { tag: p.str(), data: p.dict(), files: p.list() },
  async run({ tag, data, files }, context) {
    // Loaded when it is called, as most jobs render nothing.
    const { renderReactions } = await import("#lib/reactor/render_files.ts");
    const { jobRenderHost } = await import("#lib/render/job_host.ts");
    const host = jobRenderHost(context, fileClientOf(context));
    const { reactions, mistakes } = await renderReactions({ tag, data, files: files.map(str) }, {
      host,
      renderer: context.opts.renderer,
      functions: { find: () => Promise.resolve(undefined) },
    });
    return map({
      reactions: reactions.map(({ kind, fun, id, file, args, kwargs }): Value =>
        map({ id, file, call: `${kind}.${fun}`, args: [...args], kwargs })
      ),
      mistakes: mistakes.map(mistakeText),
    });
  },
});
