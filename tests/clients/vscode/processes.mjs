// Child processes that are always ended: each leads its own group, and the group is signalled by id.

import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const live = new Set();
const STOP_MS = 5_000;
const KEPT_CHARACTERS = 200_000;

/** Poll until `probe` answers something truthy, and return it. Throws, saying `what` was awaited. */
export async function until(what, probe, ms = 15_000) {
  const end = Date.now() + ms;
  let problem = '';
  for (;;) {
    try {
      const answer = await probe();
      if (answer) return answer;
      problem = '';
    } catch (error) {
      problem = `; last problem: ${error.message.split('\n')[0]}`;
    }
    if (Date.now() >= end) throw new Error(`${what}: not within ${ms} ms${problem}`);
    await pause(50);
  }
}

export class ChildProcess {
  /** Start a program. Its output goes to the file `log` (if given) and is kept for `line()`. */
  constructor(command, args, { cwd, env = process.env, log } = {}) {
    this.name = [command, ...args].join(' ');
    this.output = '';
    this.exitCode = undefined; // then the code, the signal's name, or why it did not start
    this.child = spawn(command, args, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const file = log && createWriteStream(log, { flags: 'a' });
    const keep = (text) => {
      this.output = (this.output + text).slice(-KEPT_CHARACTERS);
      file?.write(text);
    };
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', keep);
    }
    live.add(this);
    this.ended = new Promise((resolve) => {
      const end = (how) => {
        this.exitCode = how;
        resolve(how);
      };
      this.child.on('error', (error) => end(error.message));
      this.child.on('exit', (code, signal) => end(code ?? signal));
    });
    this.child.on('close', () => file?.end());
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

  /** End the whole group: politely, and after `grace` ms not. Returns when the process is gone. */
  async stop(grace = STOP_MS) {
    this.#signal('SIGTERM');
    await Promise.race([this.ended, pause(grace, undefined, { ref: false })]);
    this.#signal('SIGKILL'); // the leader, or what is left of its children
    await this.ended;
    live.delete(this);
  }

  #signal(signal) {
    if (this.child.pid === undefined) return;
    try {
      process.kill(-this.child.pid, signal);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }
}

/** Run `main` and exit with its number; whatever ends it, a signal or an error, no child stays behind. */
export async function runToExit(main) {
  let signalled = false;
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
    process.once(signal, () => {
      signalled = true;
      void stopAll().finally(() => process.exit(code));
    });
  }
  let code = 1;
  try {
    code = await main();
  } catch (error) {
    if (!signalled) console.error(error.stack);
  }
  if (signalled) return; // the signal's own end is under way
  await stopAll();
  process.exit(code);
}

async function stopAll() {
  await Promise.allSettled([...live].map((child) => child.stop()));
}
