/** Every outputter, compared with Salt's output for the same values: tests/corpus/make_outputters.py. */

import { formatOutput } from "#lib/output/outputters.ts";
import { type DisplayOpts, stateDisplay, tableLayout } from "#lib/output/display_opts.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { assertEquals, assertNotEquals } from "#tests/support/assert.ts";
import { fromTyped, readCorpus, type Typed } from "#tests/support/typed_values.ts";
import { map, toValue, type Value } from "#lib/values/value.ts";

interface Row {
  readonly out: string;
  readonly value: Typed;
  /** Whether our output differs on purpose, as described in docs/differences.md. */
  readonly differs?: true;
  /** Options of Salt's configuration. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly text: string | { readonly error: string };
  /** The text with colours, if it differs. */
  readonly color?: string | { readonly error: string };
}

const DEFAULTS: DisplayOpts = loadMasterConfig({ configDir: "/nonexistent" }).opts;

function shown({ out, options = {} }: Row, value: Value, color: boolean): string {
  const opts: DisplayOpts = { ...DEFAULTS, ...options };
  const arg = toValue(options.arg ?? []);
  const indent = options.output_indent;
  return formatOutput(value, {
    out,
    color,
    indent: typeof indent === "number" ? indent : undefined,
    nestedIndent: Number(options.nested_indent ?? 0),
    states: stateDisplay(opts, Array.isArray(arg) ? arg : []),
    table: tableLayout(opts),
  });
}

/** Without the lines about test mode, which Salt does not have. */
function withoutTestMode(text: string): string {
  const [yellow, end] = ["\u001b[0;1;33m", "\u001b[0;0m"];
  return text.split("\n").reduce((before, line) => {
    const own = line.trimStart();
    if (!own.startsWith("Test mode: ") && !own.startsWith(`${yellow}Test mode: `)) return `${before}\n${line}`;
    // In the output of an inner run the end of the colour around it follows.
    return before + (own.startsWith(yellow) ? own.slice(own.indexOf(end) + end.length) : "");
  });
}

for (const corpus of ["outputters.json", "outputters_3007.json"]) {
  const rows = await readCorpus<Row>(corpus);
  for (const out of new Set(rows.map((row) => row.out))) {
    Deno.test(`${out} writes what Salt writes: ${corpus}`, () => {
      for (const row of rows.filter((row) => row.out === out)) {
        const about = JSON.stringify([row.value, row.options]).slice(0, 200);
        const value = fromTyped(row.value);
        if (row.differs) {
          assertNotEquals<unknown>(
            shown(row, value, false),
            row.text,
            `${about} is like Salt's, and is marked as different`,
          );
          continue;
        }
        assertEquals<unknown>(withoutTestMode(shown(row, value, false)), row.text, about);
        assertEquals<unknown>(withoutTestMode(shown(row, value, true)), row.color ?? row.text, about);
      }
    });
  }
}

Deno.test("table shows all lines of a long cell, and all cells of a long row", () => {
  const table = (rows: unknown) =>
    formatOutput(toValue({ m1: rows }), { out: "table", color: false }).split("\n").slice(2);
  assertEquals(table([["one", "1\n2"]]), [
    "    -----------",
    "    | one | 1 |",
    "    |     | 2 |",
    "    -----------",
  ]);
  assertEquals(table([["a"], ["b", "c"]]), [
    "    ---------",
    "    | a |   |",
    "    ---------",
    "    | b | c |",
    "    ---------",
  ]);
});

Deno.test("a state in one line that failed has its reason below it, and warnings are below, too", () => {
  const state = (number: number, more: Record<string, unknown>) => ({
    __run_num__: number,
    result: true,
    comment: "fine",
    changes: {},
    ...more,
  });
  const run = toValue({
    m1: {
      "cmd_|-bad_|-exit 4_|-run": state(0, { result: false, comment: "Command run\nwith 4\u001b[2J" }),
      "no_|-states_|-states_|-None": state(1, { result: false, comment: "No Top file" }),
      "test_|-good_|-good_|-nop": state(2, { warnings: ["careful\nnow", "twice"] }),
    },
  });
  const lines = (state_tabular: boolean) => {
    const states = stateDisplay({ ...DEFAULTS, state_output: "terse", state_tabular });
    return formatOutput(run, { out: "highstate", color: false, states }).split("\n").slice(1, 9);
  };
  assertEquals(lines(false), [
    "  Name: exit 4 - Function: cmd.run - Result: Failed",
    "        Command run",
    "        with 4\\x1b[2J",
    "  Name: states - Function: no.None - Result: Failed",
    "        No Top file",
    "  Name: good - Function: test.nop - Result: Clean",
    "        Warning: careful",
    "        now",
  ]);
  assertEquals(lines(true).slice(0, 3), [
    "       cmd.run        Failed    Name: exit 4",
    "        Command run",
    "        with 4\\x1b[2J",
  ]);
});

Deno.test("the summary of a run in test mode says so in a line of its own, and no other does", () => {
  const state = (number: number, result: boolean | null, changes = {}) => ({
    __run_num__: number,
    result,
    comment: "",
    changes,
  });
  const lastLines = (states: readonly unknown[], arg: readonly Value[] = []) => {
    const run = toValue({ m1: Object.fromEntries(states.map((one, i) => [`test_|-${i}_|-${i}_|-nop`, one])) });
    const modes = ["full", "terse", "mixed", "changes", "filter", "full_id"];
    const last = modes.map((state_output) => {
      const shown = stateDisplay({ ...DEFAULTS, state_output, state_verbose: false }, arg);
      return formatOutput(run, { out: "highstate", color: false, states: shown }).split("\n").at(-1);
    });
    assertEquals(new Set(last).size, 1, last.join(", "));
    return last[0];
  };
  const asked = [map({ __kwarg__: true, test: true })];
  const would = state(0, null, { a: 1 }), did = state(1, true, { b: 1 }), clean = state(2, true);
  assertEquals(lastLines([would, clean]), "Test mode: nothing was changed");
  assertEquals(lastLines([clean], asked), "Test mode: nothing was changed");
  assertEquals(lastLines([would, did]), "Test mode: states with the result None changed nothing");
  for (const states of [[clean], [did], [did, clean]]) {
    assertEquals(lastLines(states)?.split(":")[0], "Total run time");
  }
  assertEquals(lastLines([did], asked)?.split(":")[0], "Total run time");
});

Deno.test("a plan is a line of its own, not a state; of state.last_run the results are shown, and how it ended", () => {
  const state = (result: boolean | null) => ({ __run_num__: 0, result, comment: "", changes: {} });
  const hash = "0123456789abcdef0123456789abcdef";
  const lines = (run: unknown, state_output = "terse") =>
    formatOutput(toValue({ m1: run }), {
      out: "highstate",
      color: false,
      states: stateDisplay({ ...DEFAULTS, state_output }),
    }).split("\n");
  const states = { "test_|-a_|-a_|-nop": state(null) };
  const planned = lines({ ...states, plan: hash });
  assertEquals(planned.at(-1), `Plan: 1 change on m1; apply with: state.apply plan=${hash}`);
  assertEquals(planned.slice(0, -1), lines(states));
  const past = {
    jid: "1",
    fun: "state.apply",
    begun: "now",
    outcome: "interrupted",
    unfinished: ["cmd_|-x_|-y_|-run"],
    states,
  };
  assertEquals(lines(past).slice(0, -2), lines(states));
  assertEquals(lines(past, "full").slice(0, -2), lines(states, "full"));
  assertEquals(lines(past).slice(-2), [
    "state.apply with jid 1, begun now: interrupted",
    "Not finished: cmd.run of x",
  ]);
});

Deno.test("highstate shows an unreadable layout as aligned lines", () => {
  const run = toValue({ m1: { "test_|-a_|-a_|-nop": { __run_num__: 0, result: true, comment: "", changes: {} } } });
  for (const state_tabular of ["{9}", "{", "{6[nothing]}", "{1:%d}", "{name}"]) {
    const states = stateDisplay({ ...DEFAULTS, state_output: "terse", state_tabular });
    const lines = formatOutput(run, { out: "highstate", color: false, states }).split("\n");
    assertEquals(lines[1], "      test.nop        Clean     Name: a", state_tabular);
  }
});

Deno.test("for a misspelt outputter nested is used, with the nearest name in a warning", () => {
  const warnings: string[] = [];
  assertEquals(formatOutput(1, { out: "jsn", color: false, warn: (text) => warnings.push(text) }), "1");
  assertEquals(warnings, ["Invalid outputter jsn specified, fall back to nested; did you mean json?"]);
});

Deno.test("the options of a call override those of the configuration about the shown states", () => {
  const opts = { ...DEFAULTS, state_output_exclude: ["True"], state_output_terse: "None" };
  const kwargs = new Map<Value, Value>([["__kwarg__", true], ["exclude", "False,"]]);
  assertEquals([stateDisplay(opts).exclude, stateDisplay(opts).terse], [["True"], ["None"]]);
  assertEquals([stateDisplay(opts, [kwargs]).exclude, stateDisplay(opts, [kwargs]).terse], [["False", ""], ["None"]]);
});
