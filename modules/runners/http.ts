/**
 * Runner `http`: requests to web services from the master's host.
 * Source: Salt 3008.3 `salt/runners/http.py`.
 * @module
 */

import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { p } from "#lib/plugins/module.ts";
import { map } from "#lib/values/value.ts";

export const query: RunnerFunction = runner({
  doc: runnerDoc(
    "Send a request, and return a map with its `body`, or an `error`. Keywords are those of the execution function http.query.",
    "http.query http://somelink.com/",
    `http.query http://somelink.com/ method=POST params='{"key1": "val1", "key2": "val2"}'`,
    "http.query http://somelink.com/ method=POST data='<xml>somecontent</xml>'",
  ),
  params: { url: p.str(), output: p.bool(true) },
  varKwargs: "kwargs",
  run({ url, output }, context, { kwargs }) {
    if (!output) context.log("warning", "Output option has been deprecated. Please use --quiet.");
    const own = [...kwargs].filter(([key]) => !String(key).startsWith("__"));
    return context.execute({ fun: "http.query", args: [url], kwargs: new Map([["node", "master"], ...own]) });
  },
});

export const update_ca_bundle: RunnerFunction = runner({
  doc: runnerDoc(
    "Update the bundle of certificate authorities from source or the option ca_bundle_url, and append merge_files. Use an https source: the default is not encrypted.",
    "http.update_ca_bundle",
    "http.update_ca_bundle target=/path/to/cacerts.pem",
    "http.update_ca_bundle source=https://example.com/cacerts.pem",
    "http.update_ca_bundle merge_files=/path/to/mycert.pem",
  ),
  params: { target: p.str(null), source: p.str(null), merge_files: p.any(null) },
  run: (given, context) => context.execute({ fun: "http.update_ca_bundle", args: [], kwargs: map(given) }),
});
