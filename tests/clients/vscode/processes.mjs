// Child processes that are always ended: each leads its own group, and the group is signalled by id.

import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

const live = new Set();
const STOP_MS = 5_000;
const KEPT_CHARACTERS = 200_000;

/** Poll until `probe` answers something truthy, and return it. Throws, saying `what` was awaited. */
export async function until(what, probe, ms = 15_000) {
  const end = Date.now() + ms;
  let problem = "";
  for (;;) {
    try {
      const answer = await probe();
      if (answer) return answer;
      problem = "";
    } catch (error) {
      problem = `; last problem: ${error.message.split("\n")[0]}`;
    }
    if (Date.now() >= end) throw new Error(`${what}: not within ${ms} ms${problem}`);
    await pause(50);
  }
}

export class ChildProcess {
  /** Start a program. Its output goes to the file `log` (if given) and is kept for `line()`. */
  constructor(command, args, { cwd, env = process.env, log } = {}) {
    this.name = [command, ...args].join(" ");
    this.output = "";
    this.exitCode = undefined;
    this.child = spawn(command, args, {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const file = log && createWriteStream(log, { flags: "a" });
    const keep = (text) => {
      this.output = (this.output + text).slice(-KEPT_CHARACTERS);
      file?.write(text);
    };
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", keep);
    }
    this.child.on("error", (error) => {
      keep(`${error.message}\n`);
      this.exitCode = -1;
    });
    this.child.on("exit", (code, signal) => (this.exitCode = code ?? `signal ${signal}`));
    this.child.on("close", () => file?.end());
    live.add(this);
  }

  /** Wait for output that matches, and return the match. Throws when the process ends before. */
  async line(pattern, ms) {
    const match = await until(
      `${pattern} from ${this.name}`,
      () => pattern.exec(this.output) ?? this.exitCode !== undefined,
      ms,
    );
    if (match === true) throw new Error(`${this.name} ended early (${this.exitCode})\n${this.output}`);
    return match;
  }

  /** Wait for the end. Throws unless the exit code is 0. */
  async succeeded(ms) {
    await until(`the end of ${this.name}`, () => this.exitCode !== undefined, ms);
    live.delete(this);
    if (this.exitCode !== 0) throw new Error(`${this.name}: ${this.exitCode}\n${this.output}`);
  }

  /** End the whole group: politely, then not. Returns when the process is gone. */
  async stop() {
    live.delete(this);
    this.#signal("SIGTERM");
    try {
      await until(`the end of ${this.name}`, () => this.exitCode !== undefined, STOP_MS);
    } finally {
      this.#signal("SIGKILL"); // what is left of the group, the leader's children among it
    }
  }

  #signal(signal) {
    if (this.child.pid === undefined) return;
    try {
      process.kill(-this.child.pid, signal);
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }
}

/** Run `main` and exit with its number; a signal ends every child first, and so does an error. */
export async function runToExit(main) {
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]]) {
    process.once(signal, () => void stopAll().finally(() => process.exit(code)));
  }
  let code = 1;
  try {
    code = await main();
  } catch (error) {
    console.error(error.stack);
  } finally {
    await stopAll();
  }
  process.exit(code);
}

async function stopAll() {
  await Promise.allSettled([...live].map((child) => child.stop()));
}
