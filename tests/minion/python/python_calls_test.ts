/**
 * The rules of Salt's loader for `salt-call`, with a master and without, as Salt 3008.3 shows them
 * (tests/corpus/python_calls).
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { pythonWith } from "./python_pool.ts";
import { type CallMode, replayCalls } from "./python_calls.ts";
import type { OnPurpose } from "./python_rules.ts";
import { MAKO_ON_PURPOSE, ON_PURPOSE as OF_JOBS } from "./python_rules_purpose.ts";

/** What is ours on purpose: in both modes, and in one. */
const ON_PURPOSE: Readonly<Record<string, Readonly<Partial<Record<"both" | CallMode, OnPurpose>>>>> = {
  arguments: {
    both: {
      // Both show what begins with `br`.
      "br": /'bridge\.check': /,
      "br.nothing_here": /is not available\. Did you mean br\.nothing\?/,
    },
  },
  failures: {
    both: {
      // Salt shows the generator itself.
      "br.generator": /ValueError: in a generator/,
      // What a plugin prints goes to standard error, so that standard output is JSON.
      "br.printed": /^\{'local': 'done'\} (?:'[^']*' )?0$/,
      // Salt's own levels are methods of its logger; `quiet` is none of them.
      "br.logged": /^\{'local': 'salt\.loaded\.ext\.module\.br'\} 0$/,
    },
  },
  values: {
    both: {
      // A function shows here what its job returns: Salt shows the text of an object of Python.
      ...shown(
        "sets chain raw times zone generated generated_list generated_mixed generated_none nested frozen ranged mapped zipped " +
          "view views queue userdict userlist",
        /^\{'local': [[{'].*\} 0$/,
      ),
      ...shown(
        "delta clock exact fraction path colour complex_ exception kind own function proxy surrogate pair_key not_implemented " +
          "ellipsis coroutine module",
        /^'' "Error running 'br\.\w+': br\.\w+ returned .*cannot be sent\\n" 1$/,
      ),
      "br.large": /^\{'local': \[9223372036854775808, 18446744073709551615, '18446744073709551616', /,
      "br.infinite": /^\{'local': \[inf, -inf\]\} 0$/,
      "br.bytes_key": /^\{'local': \{"b'k'": 1\}\} 0$/,
      "br.recursive": /the value is nested too deeply\\n" 1$/,
    },
  },
  dunders: {
    both: {
      // Salt has `__file_client__` besides; utils have `__utils__` here too.
      "br.utils_known": /'__context__', '__utils__', '__proxy__'\]\} 0$/,
      "br_known.known": /'__context__', '__utils__', '__proxy__'\]\} 0$/,
      "state.single br_state.told name=x": / __lowstate__ __instance_id__', '__sls__'/,
      // Own functions are not wrapped.
      "br.self_reference": /^\{'local': True\} 0$/,
    },
    live: {
      // Salt masks the maps and lists in a pillar from a master, not its other values, and nothing in a job.
      "br.pillars": /^\{'local': \['secret', \{'key': 'v', 'list': \[1, 2\]\}, '\*{10}', /,
    },
  },
  sls: {
    both: {
      ...OF_JOBS.sls,
      "state.show_low_sls listed": /^\{'local': \['SLS listed does not render to a dictionary', /,
    },
  },
  states: {
    both: {
      ...OF_JOBS.states,
      "state.sls unknown_argument": /\["unknown argument `valu` of brst\.changed in state 'c'/,
      // A set is a list, as everywhere.
      "state.sls one_sets": /'changes': \{'a': \[1, 2\], 'b': \[3\]\}/,
    },
  },
  mako: { both: MAKO_ON_PURPOSE },
  // A set is a list, as everywhere.
  pyobjects: { both: { ...OF_JOBS.pyobjects, "state.show_sls tuples": /\{'one': \[1\]\}/ } },
  stateconf: { both: OF_JOBS.stateconf },
  // The exit code of a return that is no state's result is 1.
  pydsl: { both: { ...OF_JOBS.pydsl, "br.high compiled_unchecked": / 1$/ } },
  families: {
    both: {
      // The load of a call has `tgt` here; Salt's has neither.
      '--module-executors=["br_known"] test.echo x': /KeyError: \\'tgt_type\\'/,
      // Without the documentation of the function, whose arguments are right.
      '--module-executors=["br_virtual"] test.echo x': /^'' "Executor 'br_virtual' is not available\\n" 1$/,
      '--module-executors=["br_named"] test.echo x': /^'' "Executor 'br_named' is not available\\n" 1$/,
      '--module-executors=["nobody"] test.echo x': /^'' "Executor 'nobody' is not available\\n" 1$/,
      '--module-executors={"a":1} test.echo x': /^'' "Wrong executors specification: \{'a': 1\}\./,
      // Numbers of the process and of the job.
      '--module-executors=["br_changes"] test.arg x':
        /\{'args': \['changed', 'x'\], 'kwargs': \{'__pub_fun': 'test.arg', /,
    },
  },
};

/** Names of functions of `br` that show the same. */
function shown(names: string, text: RegExp): OnPurpose {
  return Object.fromEntries(names.split(" ").map((name) => [`br.${name}`, text]));
}

const mako = pythonWith("mako");

for (const [rule, purpose] of Object.entries(ON_PURPOSE)) {
  const needsMako = rule === "mako" && mako === undefined;
  for (const mode of ["live", "local"] as const) {
    Deno.test({
      name: `salt-call with plugins in Python shows what Salt's shows: ${rule}, ${mode}${
        needsMako ? " (ignored: no python3 here has mako)" : ""
      }`,
      ignore: needsMako,
      fn: async () => {
        const python = rule === "mako" ? mako : undefined;
        assertEquals(await replayCalls(rule, mode, { ...purpose.both, ...purpose[mode] }, python), []);
      },
    });
  }
}
