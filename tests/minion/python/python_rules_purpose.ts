/**
 * Where the jobs of recorded rules (tests/corpus/python_rules) answer other than Salt's, on purpose.
 * @module
 */

import type { OnPurpose } from "./python_rules.ts";

/** What is ours on purpose, with a master and without. */
export const ON_PURPOSE: Readonly<Record<string, OnPurpose>> = {
  arguments: {
    // Salt 3008 has three more of `__pub_…`, for its resources.
    "br.pub": /^\['__pub_arg', '__pub_fun', '__pub_jid', '__pub_ret', '__pub_tgt', '__pub_tgt_type', '__pub_user'\] 0$/,
    // Both show what begins with `br`.
    br: /'bridge.check': /,
  },
  failures: {
    // Salt's own levels are methods of its logger; `quiet` is none of them.
    "br.logged": /^'salt.loaded.ext.module.br' 0$/,
  },
  values: {
    // An object inside itself: Salt puts a text with an address there.
    "br.recursive": /the value is nested too deeply' 1$/,
    // Salt joins maps, and fails at a value that is none.
    "br.generated_mixed": /^\[\{'a': 1\}, 2\] 0$/,
    ...unanswered({
      "frozen": /^\[1\] 0$/,
      "ranged": /^\[0, 1, 2\] 0$/,
      "mapped": /^\['1', '2'\] 0$/,
      "zipped": /^\[\[1, 2\]\] 0$/,
      "view": /^\['a'\] 0$/,
      "views": /^\[\[1\], \[\['a', 1\]\]\] 0$/,
      "queue": /^\[1\] 0$/,
      "userlist": /^\[1\] 0$/,
      "delta": /: timedelta cannot be sent' 1$/,
      "clock": /: time cannot be sent' 1$/,
      "exact": /^"ERROR: br.exact returned \{'a': \[Decimal\('1.5'\)\]\}: Decimal at a:0 cannot be sent" 1$/,
      "fraction": /: Fraction cannot be sent' 1$/,
      "path": /: PosixPath cannot be sent" 1$/,
      "colour": /: C cannot be sent" 1$/,
      "complex_": /: complex cannot be sent' 1$/,
      "exception": /: ValueError cannot be sent" 1$/,
      "kind": /: type cannot be sent" 1$/,
      "own": /: Own at 0 cannot be sent' 1$/,
      "function": /: builtin_function_or_method at f cannot be sent" 1$/,
      "proxy": /: mappingproxy cannot be sent" 1$/,
      "surrogate": /: a text that is not UTF-8 cannot be sent" 1$/,
      "pair_key": /: tuple cannot be sent' 1$/,
      "not_implemented": /: NotImplementedType cannot be sent' 1$/,
      "ellipsis": /: ellipsis cannot be sent' 1$/,
      "coroutine": /^'ERROR: br.coroutine returned a coroutine: it cannot be sent' 1$/,
      "module": /: module cannot be sent" 1$/,
    }),
  },
  dunders: {
    // Salt has `__file_client__` besides; utils have `__utils__` here too.
    "br.utils_known":
      /^\['__salt__', '__grains__', '__pillar__', '__opts__', '__context__', '__utils__', '__proxy__'\] 0$/,
    "br_known.known":
      /^\['__salt__', '__grains__', '__pillar__', '__opts__', '__context__', '__utils__', '__proxy__'\] 0$/,
    "state.single br_state.told name=x": / __lowstate__ __instance_id__', '__sls__'/,
    // Own functions are not wrapped.
    "br.self_reference": /^True 0$/,
    // Nothing of the minion is in `__context__`.
    "br.sorted_bool": /^\[True, True, False\] 0$/,
  },
  states: {
    // Salt's results of earlier states are maps of a class of its own.
    "state.sls plain": /'brst_\|-tested_\|-tested_\|-tested', True, \{'done': True\}\)\]"/,
    // Salt ends the whole run.
    "state.sls one_no_name_at_all": /The following keyword arguments are not valid: name=no_name_at_all/,
    "state.sls unknown_argument": /^\["unknown argument `valu` of brst\.changed in state 'c'/,
    // A tuple of comments becomes lines, as a list does.
    "state.sls one_tuple_comment": /'comment': 'a\\nb'/,
    // Salt's job ends with a traceback, and has no result at all for `sys.exit`.
    "state.single brst.empty name=x": /'Changes' should be a dictionary\./,
    "state.single brst.no_changes name=x": /'Changes' should be a dictionary\./,
    "state.single brst.no_comment name=x": /were not present in the state return: comment\./,
    "state.single brst.exits name=x": /SystemExit: 3/,
    "state.low {state: brst, fun: changed, name: lowly}": /'result': True/,
    // The same mistake is not told twice.
    "state.single brst.sub_state name=x": /were not present in the state return: name\./,
  },
  states_touched: {},
  pyobjects: {
    // Salt 3008 gives masks of the pillar.
    "state.show_sls facts": /'grain none 8080 1001 5 grain \{\} facts x \[1\]'.* 0$/,
    "state.show_sls loops": /'user-bob': \{'test': \[\{'uid': 1002\}.*'large-bob': .* 0$/,
    "state.show_sls includes_two": /'user-bob': \{'test': \[\{'uid': 1002\}.*'large-bob': .* 0$/,
    "state.sls run": /'comment': '8080'.* 0$/,
    // A traceback has the file's path, and its lines.
    ...shown(Object.fromEntries(
      ["unknown_module", "raises", "call_raises", "key", "syntax"].map((name) => [name, tracedIn(name)]),
    )),
    ...shown({
      again: tracedIn("again", "salt\\.utils\\.pyobjects\\.DuplicateState: "),
      unknown_function: tracedIn("unknown_function", "salt\\.utils\\.pyobjects\\.InvalidFunction: "),
    }),
  },
  stateconf: {
    // Salt refuses these with a trace, or with words for data that it has changed itself.
    ...shown({
      "deep.tree.inclenv": /'deep\.tree\.inner::a': .* 0$/,
      "t40": /'t40::a': .*'require': \[\{'test': 't40::a'\}\].* 0$/,
      "t41": /'__exclude__': \[\{'id': 'p'\}\], 't41::a': .* 0$/,
      "t44": /failed: a:test stands here twice"\] 1$/,
      "t73": /failed: option -x not recognized\. #!stateconf /,
      "t82": /failed: 1 is no text"\] 1$/,
      "t83": /failed: State '\.a' is not formed as a list"\] 1$/,
      "t84": /failed: State '\.a' is not formed as a list"\] 1$/,
      "t85": /failed: 5 is no list"\] 1$/,
      "t86": /failed: 5 is no text"\] 1$/,
      "t87": /failed: 1 is no text"\] 1$/,
      "t88": /failed: \{'plain': \[\]\} is no list"\] 1$/,
      "t89": /failed: 5 is no list"\] 1$/,
      "t90": /failed: 5 is no text"\] 1$/,
      "t91": /failed: The type extend in 5 is not formatted as a dictionary"\] 1$/,
      "t93": /failed: 5 is no list"\] 1$/,
      "t96": /failed: State '\.p' is not formed as a list"\] 1$/,
      // The usage is in other words.
      "t24": /'names' declaration\(found in state id: \.a\) is not supported with implicitly ordered states! A loop/,
      "t70": /failed: Invalid use of stateconf\.py renderer!\\nUsage: /,
      "t76": /failed: Invalid use of stateconf\.py renderer!\\nUsage: /,
      // A missing variable is told as in all templates, and a mistake in YAML has its line.
      "deep.inner_conf": /failed: Jinja variable 'dict object' has no attribute 'more'; line 8/,
      "deep.relexttwo": /failed: Jinja variable 'dict object' has no attribute 'more'; line 8/,
      "writer": /mapping values are not allowed in this context; line 5/,
      "t63": /mapping values are not allowed in this context; line 9/,
      "t95": /mapping values are not allowed in this context; line 2/,
      // Salt 3008 has no renderer of this name.
      "t69": /'a': \{'test': \['nop'/,
    }),
  },
  pydsl: {
    // A traceback has the file's path, and its lines.
    ...traced("two", "notref", "emptyref", "raises", "syntax", "compiled_late", "compiled_fails"),
    // A state that has failed counts for the exit code.
    "br.high compiled_unchecked": / 2$/,
  },
  families: {
    // Executors have the same names as other plugins.
    'test.echo x by ["br_known"]':
      /'__utils__', '__proxy__'\], 'salt\.loaded\.ext\.executor\.br_known', 'm1', 'glob', True, /,
    // As for other functions, Salt 3008 has three more of `__pub_…`.
    'test.arg x by ["br_changes"]': /^\{'kwargs': \{'__pub_.*'__pub_module_executors': \['br_changes'\]/,
  },
  sls: {
    // Salt 3008 hides a pillar's values in the `repr` of what has them.
    "state.show_low_sls facts": /\['grain', 'secret', \[1, 2\], 'm1', False, 'secret', \(1, 2\)\]/,
    // Salt refuses a tuple there, and a list instead of high data with a wrong text.
    "state.show_low_sls tuples": /'name': 'tuple'/,
    "state.show_low_sls listed": /^\['SLS listed does not render to a dictionary', /,
    // Names are there while the file runs, too; a renderer gets its arguments in any place of a pipe.
    "state.show_low_sls top_level": /'name': 'top_level\.slsgrain'/,
    "state.show_low_sls argued": /'name': '-x 1 4'/,
    "state.show_low_sls known": /__context__ __utils__ __states__'.*'kwargs': \['tmplpath'\]/,
  },
};

/** Names of functions of `br` whose jobs never return in Salt. */
function unanswered(ours: OnPurpose): OnPurpose {
  return Object.fromEntries(Object.entries(ours).map(([name, text]) => [`br.${name}`, text]));
}

/** High data of files, by their names. */
function shown(ours: OnPurpose): OnPurpose {
  return Object.fromEntries(Object.entries(ours).map(([sls, text]) => [`state.show_sls ${sls}`, text]));
}

/** Files in `pydsl` with a traceback. */
function traced(...names: readonly string[]): OnPurpose {
  return Object.fromEntries(names.map((name) => [
    `br.high ${name}`,
    tracedIn(name),
  ]));
}

/** A traceback of an SLS file, and what comes behind its lines. */
function tracedIn(name: string, behind = ""): RegExp {
  return new RegExp(`render error: .*Traceback [^]*File "\\{CACHE\\}/${name}\\.sls", line \\d[^]*${behind}`);
}

/** What is ours on purpose in templates of Mako, which need its library. */
export const MAKO_ON_PURPOSE: OnPurpose = shown({
  // Without the lines of the library.
  missing: /failed: Traceback \(most recent call last\):\\n {2}File "missing", line 0, in render_body\\nNameError: /,
  raises:
    /\\n {2}File "raises", line 4, in render_body\\n {4}- name: \$\{1 \/ 0\}\\nZeroDivisionError: division by zero/,
  syntax: /failed: CompileException: Fragment 'for x in' is not a partial control statement at line: 2 char: 1"\] 1$/,
  unended: /failed: SyntaxException: Unterminated control keyword: 'for' at line: 2 char: 1"\] 1$/,
  expression: /failed: SyntaxException: \(SyntaxError\) .* at line: 2 char: 4"\] 1$/,
  key: /\\n {2}File "key", line 2, in render_body\\n {4}a: .*\\nKeyError: \\'absent\\'/,
  absent: /line 2, in render_body\\n.*Cant locate template for uri \\'salt:\/\/lib\/absent\.mako\\'/,
  scheme: /ValueError: Unsupported URL scheme\(http\) in http:\/\/localhost\/x/,
  // As of all files: what it has made is shown.
  text: /^\['SLS text does not render to a dictionary', 'Error when rendering state with contents: /,
});
