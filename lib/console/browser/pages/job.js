/**
 * One job: how it is on each minion, and its output.
 * @module
 */

import { callMinions, getJob, readEvents } from "../api.js";
import { argText, funText, markOf, statesOf } from "../fleet.js";
import {
  count,
  counted,
  duration,
  goTo,
  html,
  jidTime,
  MarkIcon,
  messageOf,
  MinionName,
  OutcomeBar,
  Placeholder,
  plain,
  question,
  route,
  Rows,
  say,
  setQuery,
  targetText,
  timeText,
} from "../parts.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";

/** @typedef {import("../parts.js").Mark} Mark */
/** @typedef {{ id: string, mark: Mark, word: string }} Part how the job is on one minion */
/** @typedef {{ number: number, id: string, text: string, isError: boolean }} Line */

/** @type {Record<Mark, string>} */
const WORDS = { bad: "failed", chg: "changed", run: "working", off: "no answer", ok: "unchanged" };
/** The most lines in the document and in memory; events of a job older than this are not in the log, in milliseconds. */
const MOST_LINES = 800, LOG_MS = 86_400_000;
/** Time after which a broken stream of events is opened again, in milliseconds. */
const RETRY_MS = 1000;

/** What the page knows of its job. */
class JobView {
  /** @param {string} jid */
  constructor(jid) {
    this.jid = jid;
    this.fun = "";
    this.arg = "";
    this.target = "";
    this.user = "";
    this.endMs = NaN;
    /** @type {Map<string, Part>} */
    this.parts = new Map();
    /** @type {Line[]} */
    this.lines = [];
    this.left = 0;
    this.number = 0;
    /** @type {Set<string>} */
    this.seenOutput = new Set();
    /** The lines whose end has not come yet, by minion, command and stream. @type {Map<string, Line>} */
    this.open = new Map();
  }

  get isOver() {
    return this.parts.size > 0 && [...this.parts.values()].every(({ mark }) => mark !== "run");
  }

  /** @param {any} job as jobs.list_job gives it */
  takeJob(job) {
    this.fun = funText(job.Function);
    this.arg = argText(job.Arguments);
    this.target = Array.isArray(job.Target) ? job.Target.join(",") : String(job.Target ?? "");
    this.user = String(job.User ?? "");
    for (const id of job.Minions ?? []) if (!this.parts.has(id)) this.set(id, "run", WORDS.run);
    for (const [id, outcome] of Object.entries(job.Outcomes ?? {})) {
      const isWaiting = outcome === "running" || outcome === "received" || outcome === "not received";
      if (!isWaiting && outcome !== "returned" && outcome !== "failed") this.set(id, "off", String(outcome));
    }
    for (const [id, result] of Object.entries(job.Result ?? {})) this.takeReturn(id, result);
  }

  /** @param {string} id @param {any} result */
  takeReturn(id, result) {
    if (this.parts.get(id)?.mark !== "run" && this.parts.has(id) && this.parts.get(id)?.mark !== "off") return;
    const mark = markOf(this.fun, result);
    this.set(id, mark, WORDS[mark]);
    this.endMs = Number.isNaN(this.endMs) ? NaN : Date.now();
    // What was shown line by line is not shown again.
    if (this.seenOutput.has(id) && typeof result.return === "string") return;
    for (const { text, isError } of returnLines(result.return, mark)) this.add(id, text, isError);
  }

  /** @param {string} id @param {any} batch of an event salt/job/JID/out/ID */
  takeOutput(id, batch) {
    const mark = this.parts.get(id)?.mark;
    // Its return has all of it, and was there before the events were read.
    if (mark !== undefined && mark !== "run" && mark !== "off") return;
    this.seenOutput.add(id);
    for (const { left_out, text, command, stream } of batch?.out ?? []) {
      if (left_out !== undefined) this.add(id, `… ${left_out} lines left out`, false);
      if (text !== undefined) {
        this.addText(id, `${id} ${command} ${stream}`, { text: String(text), isError: stream === "stderr" });
      }
    }
  }

  /** A piece of output may begin and end within a line. @param {string} id @param {string} key @param {{ text: string, isError: boolean }} piece */
  addText(id, key, { text, isError }) {
    const lines = text.split("\n"), last = lines.pop() ?? "";
    for (const [i, line] of [...lines, last].entries()) {
      const begun = this.open.get(key);
      if (begun !== undefined) begun.text += line;
      else if (i < lines.length || line !== "") this.open.set(key, this.add(id, line, isError));
      if (i < lines.length) this.open.delete(key);
    }
  }

  /** @param {string} id @param {Mark} mark @param {string} word */
  set(id, mark, word) {
    this.parts.set(id, { id, mark, word });
  }

  /** @param {string} id @param {string} text @param {boolean} isError @returns {Line} */
  add(id, text, isError) {
    const line = { number: this.number++, id, text, isError };
    this.lines.push(line);
    if (this.lines.length > 2 * MOST_LINES) this.left += this.lines.splice(0, MOST_LINES).length;
    return line;
  }
}

/** A return as lines. @param {any} value @param {Mark} mark @returns {{ text: string, isError: boolean }[]} */
function returnLines(value, mark) {
  const states = Object.entries(statesOf(value));
  if (states.length === 0) {
    return plain(value).replace(/\n$/, "").split("\n").map((text) => ({ text, isError: mark === "bad" }));
  }
  return states.sort(([, a], [, b]) => (a.__run_num__ ?? 0) - (b.__run_num__ ?? 0)).flatMap(([tag, state]) => {
    const [module, , name, fun] = tag.split("_|-"), changed = Object.keys(state.changes ?? {}).length > 0;
    const word = state.result === false
      ? "failed"
      : state.result === null
      ? "would change"
      : changed
      ? "changed"
      : "unchanged";
    const head = { text: `${word}: ${module}.${fun} ${name}`, isError: state.result === false };
    if (state.result !== false && !changed && state.result !== null) return [head];
    return [
      head,
      ...String(state.comment ?? "").trimEnd().split("\n").map((text) => ({
        text: `    ${text}`,
        isError: state.result === false,
      })),
    ];
  });
}

export default function JobPage() {
  const { rest: [jid = ""], query } = route.value;
  const view = useRef(new JobView(jid));
  const [turn, setTurn] = useState(0);
  const [problem, setProblem] = useState("");
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() =>
    follow(view.current, {
      draw: () => setTurn((turn) => turn + 1),
      loaded: () => setLoaded(true),
      failed: setProblem,
    }), [jid]);
  const job = view.current, parts = [...job.parts.values()];
  const only = query.get("id") ?? "", is = query.get("is") ?? "";
  /** @type {Partial<Record<Mark, number>>} */
  const counts = {};
  for (const { mark } of parts) counts[mark] = (counts[mark] ?? 0) + 1;
  const failed = parts.filter(({ mark }) => mark === "bad").map(({ id }) => id);
  const order = ["bad", "run", "off", "chg", "ok"];
  const shown = parts.filter(({ mark }) => is === "" || mark === is).sort((a, b) =>
    order.indexOf(a.mark) - order.indexOf(b.mark) || (a.id < b.id ? -1 : 1)
  );
  if (problem !== "" && !isLoaded) {
    return html`
      <div class="card">
        <${Placeholder} error=${problem} again=${() => location.reload()} />
      </div>
    `;
  }
  return html`
    <div class="head">
      <div>
        <h1><span class="mono">${job.fun || "Job"} ${shortened(job.arg)}</span></h1>
        <p>Job <span class="mono">${jid}</span> by ${job.user} on <span class="mono" title=${job.target}>${shortened(
          targetText(job.target),
        )}</span>, <${Elapsed} job=${job} /></p>
      </div>
      <div
        class="act"><button type="button" class="btn danger" disabled=${job.isOver || !isLoaded} onClick=${() =>
          stop(job)}>Stop the job</button><button type="button" class="btn" onClick=${() =>
          again(job, parts.map(({ id }) => id))}>Run again</button>${failed.length > 0 &&
          html`<button type="button" class="btn" onClick=${() =>
            again(job, failed)}>Run on the failed only</button>`}</div>
    </div>
    <${OutcomeBar} counts=${counts} words=${WORDS} on=${is} set=${(/** @type {string} */ mark) =>
      setQuery({ is: mark })} label="Outcomes" />
    <div class="grid jobg gap">
      <div class="card clip"><div class="row pad under"><h2 class="small">${counted(shown.length, "minion")}</h2></div>
        ${shown.length === 0 ? html`<${Placeholder} loading=${!isLoaded} title="No minion" />` : html`
          <${Rows} items=${shown} keyOf=${(/** @type {Part} */ { id }) =>
            id} kind="part" label="Minions of the job" open=${(/** @type {Part} */ { id }) =>
            setQuery({ id: only === id ? "" : id })}
            row=${partRow} />
        `}</div>
      <${Output} job=${job} only=${only} turn=${`${turn} ${job.number}`} />
    </div>
  `;
}

/** @param {Part} part */
function partRow({ id, mark, word }) {
  return html`
    <${MarkIcon} mark=${mark} word=${word} /><${MinionName} target=${id} /><span
      class="dim t">${word}</span>
  `;
}

/** @param {{ job: JobView }} props */
function Elapsed({ job }) {
  const [, setTurn] = useState(0);
  const isOver = job.isOver;
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => setTurn((turn) => turn + 1), 200);
    return () => clearInterval(timer);
  }, [isOver]);
  const start = jidTime(job.jid);
  if (isOver && Number.isNaN(job.endMs)) return html`<time>${timeText(start)}</time>`;
  return html`<span class="num">${duration((isOver ? job.endMs : Date.now()) - start)}</span>`;
}

/** `turn` tells that the job has changed: a component whose properties stay the same is not drawn again. @param {{ job: JobView, only: string, turn: string }} props */
function Output({ job, only }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [isFollowing, setFollowing] = useState(true);
  const [find, setFind] = useState("");
  const word = find.toLowerCase();
  const fits = job.lines.filter(({ id, text }) =>
    (only === "" || id === only) && (word === "" || text.toLowerCase().includes(word))
  );
  const shown = fits.slice(-MOST_LINES);
  const toEnd = () => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  };
  useEffect(() => {
    if (isFollowing) toEnd();
  });
  const onScroll = () => {
    const element = box.current;
    if (element !== null) setFollowing(element.scrollHeight - element.scrollTop - element.clientHeight < 30);
  };
  const width = Math.min(24, Math.max(0, ...shown.map(({ id }) => id.length)));
  return html`
    <div class="card clip">
      <div class="row pad under outh"><h2 class="small">${only === ""
        ? "Output of all"
        : `Output of ${only}`}</h2>${only !== "" &&
        html`<button type="button" class="chip" aria-pressed="true" onClick=${() =>
          setQuery({ id: "" })}>one minion ×</button>`}
        <label class="find grow"><span class="sr">Find in the output</span><input placeholder="Find in the output" value=${find} onInput=${(
          /** @type {{ target: HTMLInputElement }} */ event,
        ) => setFind(event.target.value)} /></label>
        <button type="button" class="btn sm" aria-pressed=${String(isFollowing)} onClick=${() => {
          if (!isFollowing) toEnd();
          setFollowing(!isFollowing);
        }}>${isFollowing ? "Following" : "Jump to the end"}</button></div>
      <div class="out" ref=${box} role="log" aria-label="Output" tabindex="0"
        onScroll=${onScroll}>${(job.left > 0 || fits.length > shown.length) &&
          html`<div class="dim">… earlier lines are not shown; choose one minion to see its own</div>`}${shown
              .length === 0 &&
          html`<div class="dim">${job.isOver ? "No output." : "No minion has returned yet."}</div>`}${shown.map((
            { number, id, text, isError },
          ) =>
            html`<div key=${number} class=${isError ? "e" : undefined}>${
              only === "" && html`<span class="m">${id.padEnd(width)} </span>`
            }${text || " "}</div>`
          )}</div>
    </div>
  `;
}

/** @param {string} text */
function shortened(text) {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/**
 * Reads the job and its events from its start on: a reload loses no line.
 * @param {JobView} job
 * @param {{ draw: () => void, loaded: () => void, failed: (problem: string) => void }} tell
 * @returns {() => void} Ends it.
 */
function follow(job, { draw, loaded, failed }) {
  const stop = new AbortController();
  let timer = 0;
  const drawSoon = () => {
    if (timer === 0) {
      timer = setTimeout(() => {
        timer = 0;
        if (!stop.signal.aborted) draw();
      }, 100);
    }
  };
  /** @param {import("../api.js").SaltEvent} event */
  const take = ({ tag, data }) => {
    if (!tag.startsWith(`salt/job/${job.jid}/`)) return;
    const [, , , kind, ...id] = tag.split("/");
    if (kind === "out") job.takeOutput(id.join("/"), data.data);
    else if (kind === "ret") {
      if (job.fun === "") job.fun = funText(data.fun);
      job.endMs = Date.parse(data._stamp);
      job.takeReturn(id.join("/"), data);
    } else return;
    drawSoon();
  };
  const startMs = jidTime(job.jid);
  // Again after each end of the stream, from where it was, until all have returned.
  const read = async () => {
    let since = new Date(startMs - 1000).toISOString();
    while (!stop.signal.aborted && !job.isOver && !(Date.now() - startMs > LOG_MS)) {
      await readEvents({
        since,
        signal: stop.signal,
        onOpen: () => {},
        onEvents: (events) => {
          events.forEach(take);
          since = events.at(-1)?.offset || since;
        },
      }).catch((error) => {
        if (stop.signal.aborted) throw error;
      });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };
  const load = async () => {
    const found = await getJob(job.jid);
    if (found.Error !== undefined || found.Function === undefined) {
      throw new Error(`There is no job ${job.jid}. Jobs are kept for a day, or as keep_jobs_seconds says.`);
    }
    job.takeJob(found);
    loaded();
    drawSoon();
  };
  load().then(read).catch((error) => {
    if (!stop.signal.aborted) failed(messageOf(error));
  });
  return () => stop.abort();
}

/** @param {JobView} job */
function stop(job) {
  const working = [...job.parts.values()].filter(({ mark }) => mark === "run").map(({ id }) => id);
  question.value = {
    title: "Stop this job?",
    text: `${counted(working.length, "minion")} that still ${
      working.length === 1 ? "works is" : "work are"
    } told to stop at once. What has changed stays changed.`,
    yes: "Stop",
    isDangerous: true,
    act: () =>
      void callMinions({ tgt: working, tgt_type: "list", fun: "saltutil.term_job", arg: [job.jid] })
        .then((answers) => say(`${count(Object.keys(answers).length)} told to stop`), (error) => say(messageOf(error))),
  };
}

/** @param {JobView} job @param {string[]} ids */
function again({ fun, arg }, ids) {
  goTo(["run"], { kind: "list", tgt: ids.join(","), fun, arg });
}
