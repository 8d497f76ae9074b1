/**
 * Plugins in Python of a master, and of a host without one, as programs of Salt 3008.3 show them
 * (tests/corpus/python_programs).
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { type ProgramsOnPurpose, replayPrograms } from "./python_programs.ts";

/** What a user's command shows that is authenticated by a system. */
function asked(eauth: string, user: string, shows: RegExp): ProgramsOnPurpose {
  return { [`salt m1 test.ping -a ${eauth} --username=${user} --password=right`]: shows };
}

/** What is ours on purpose. */
const ON_PURPOSE: Readonly<Record<string, ProgramsOnPurpose>> = {
  pillar: {
    // The grains of a minion that nobody knows have its id, and so has `config.get`.
    'salt-run pillar.show_pillar m1 {"ext_pillar":[{"br_calls":[]}],"own_setting":1}':
      /'calls': \['x', \['pong', 'm1', /,
    // `__pillar__` has what the sources before gave.
    'salt-run pillar.show_pillar m1 {"ext_pillar":[{"br_two":[1]},{"br_sees":1}],"own_setting":1}':
      /\['deep', 'list', 'of', 'two'\], True\]/,
    'salt-call --local br.pillar {"ext_pillar":[{"br_two":[1]},{"br_sees":1}],"own_setting":1}':
      /\['deep', 'list', 'of', 'two'\], True\]/,
    // The second compilation of a command sees the pillar of the first in Salt.
    [`salt-call --local pillar.ext {'br_two': [7]} {"ext_pillar":[{"br_known":1}]}`]:
      /'known': \['\*{10}', \['\*{10}', '\*{10}', '\*{10}'\]/,
  },
  tops: {
    // Salt takes a text apart into its letters.
    'salt-call --local state.show_top {"master_tops":{"br_text":1},"own_setting":5}': /'base': \['of_file', 'text'\]/,
    // Names that are no texts name no files.
    'salt-call --local state.show_top {"master_tops":{"br_numbers":1},"own_setting":5}': /'of_file', '1', 'None'/,
  },
  roster: {
    // Salt leaves a roster out that does not load, and shows what Python says of one that gives no map.
    'roster * {"roster":"br_bare","own_setting":7}': /^'targets\(\) takes 1 positional argument but 2 were given'$/,
    'roster * {"roster":"br_list","own_setting":7}': /returned no map of hosts, but list'$/,
    'roster * {"roster":"br_none","own_setting":7}': /returned no map of hosts, but NoneType'$/,
    'roster * {"roster":"br_raises","own_setting":7}': /^'went wrong'$/,
    'roster * {"roster":"br_nothing","own_setting":7}': /has no function targets'$/,
    'roster * {"roster":"br_refused","own_setting":7}': /does not load: needs the moon"$/,
    'roster * {"roster":"br_syntax","own_setting":7}': /does not load: invalid syntax \(br_syntax\.py, line 1\)"$/,
    'roster * {"roster":"br_virtual","own_setting":7}': /has no function targets'$/,
    'roster * {"roster":"nothing_here","own_setting":7}': /has no function targets'$/,
    // Salt's `salt.utils.roster_matcher` works only as `__utils__`.
    'roster * {"roster":"br_helps"}': /'web2': \{'host': '2\.2\.2\.2'\}/,
    'roster web* {"roster":"br_helps"}': /^\{'web1': \{'host': '1\.1\.1\.1'\}, 'web2': \{'host': '2\.2\.2\.2'\}\}$/,
    'roster web1,db1 {"roster":"br_helps"}': /'db1': \{'host': '3\.3\.3\.3', 'grains': /,
    'roster w.*2 {"roster":"br_helps"}': /^\{'web2': \{'host': '2\.2\.2\.2'\}\}$/,
  },
  templates: {
    // The traceback says where.
    "salt-call --local state.apply m_syntax": /manage file: invalid syntax \(syntax\.py, line 1\)\\nTraceback/,
    "salt-call --local state.apply m_imports": /manage file: No module named \\'no_such_module\\'\\nTraceback/,
    "salt-call --local state.apply m_plain": /manage file: invalid syntax \(plain\.txt, line 1\)\\nTraceback/,
    // A file has its names while it is loaded, too; maps are shown as plain ones.
    "salt-call --local file.read {ROOT}/made_known":
      /^\{'local': "\['__env__', .*\{'b': 2, 'a': 1, 'deep': \{'x': 1\}\}/,
    "salt-call --local file.read {ROOT}/made_bare":
      /^\{'local': "\['__env__', '__grains__', '__opts__', '__pillar__', '__salt__'\]/,
    "salt-call --local file.read {ROOT}/got_known": /^\{'local': "\['__env__', .*\{'b': 6\}/,
    // Salt runs files only.
    "salt-call --local state.apply m_contents": /'comment': 'File \{ROOT\}\/made_contents updated'/,
    // Salt logs the error.
    "salt-call --local cp.get_template salt://raises.py {ROOT}/got_raises template=py": /ValueError: went wrong/,
  },
  auth: {
    // Exceptions of functions that are none of Python's have another class.
    auth: /\['Exception', 'no'\], True, False, True, True, \['SaltInvocationError', 'The following keyword arguments /,
    // Of the request they get the password only.
    groups: /^\['bob', \['password'\]\]$/,
    acl: /^\['eve', \['password'\]\]$/,
    // Salt's command asks for every parameter, and sends only those.
    ...asked("br_more", "ann", /^\{'m1': True\}$/),
    ...asked("br_given", "ann", /^\{'m1': True\}$/),
    // Salt's command reads the modules itself; ours leaves that to the master.
    ...asked("br_virtual", "ann", /^'Authentication error/),
    ...asked("br_refused", "ann", /^'Authentication error/),
    ...asked("br_nothing", "ann", /^'Authentication error/),
    ...asked("nothing_here", "ann", /"nothing_here" is not available/),
    // Salt fails at a function that does not take all fields of the request, and at groups that are a number.
    ...asked("br_strict", "ann", /^\{'m1': True\}$/),
    "salt m1 test.ping -a br_groups --username=number --password=x": /^'Authorization error/,
    // Salt takes each letter of a text for a pattern: `.` allows everything.
    "salt m1 test.echo x -a br_acl --username=text --password=x": /^'Authorization error/,
    // The reason is in the log.
    "salt-run test.arg 1 -a br_plain --username=ann --password=wrong": /^''$/,
    // Salt's worker ends, and its client waits.
    ...asked("br_exits", "ann", /^'Authentication error/),
  },
  engines: {
    // On a master functions have the grains of its host.
    known_master:
      /\['pong', \[1\], 'master', 'ma', \[\]\], \['pong', \['x'\], 'master', 'ma', \['k'\]\].* 'ma', 7, \['ran', 2, /,
    // A minion has no runners: Salt gives a list.
    known_minion: /, \['KeyError', "'br_runs\.run'"\], 'grain', /,
  },
};

for (const [name, purpose] of Object.entries(ON_PURPOSE)) {
  Deno.test(`programs show of plugins in Python what Salt's show: ${name}`, async () => {
    assertEquals(await replayPrograms(name, purpose), []);
  });
}
