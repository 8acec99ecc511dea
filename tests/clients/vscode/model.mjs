// The double of the model's API as a process, and the control that a test has over it.

import { ChildProcess } from './processes.mjs';

const START_MS = 20_000;
const CALL_MS = 15_000;

/** Start the double without replies; a test adds its own. Returns its control. */
export async function startModel(python, root) {
  const child = new ChildProcess(python, ['-m', 'tests.fakes.messages_api', '--port', '0'], { cwd: root });
  const [url] = await child.line(/^http:\S+/m, START_MS);
  return new ModelControl(url, child);
}

export class ModelControl {
  /** `child` is absent where another process owns the double. */
  constructor(url, child) {
    this.url = url;
    this.child = child;
  }

  /** Add replies to the end of what the double will play: the JSON of a script file. */
  play(script) {
    return this.#call('POST', 'script', script);
  }

  /** Let a reply go on that waits at this gate. */
  open(gate) {
    return this.#call('POST', `open/${encodeURIComponent(gate)}`);
  }

  /** Return when a reply has reached this gate. */
  async reached(gate) {
    await this.#call('GET', `wait/gate/${encodeURIComponent(gate)}`);
  }

  /** Return when this many messages have been asked for, counted from the start. */
  async requested(count) {
    await this.#call('GET', `wait/requests/${count}`);
  }

  /** What has happened: `requests` with bodies and outcomes, `failures`, and replies still `unplayed`. */
  state() {
    return this.#call('GET', 'state');
  }

  async stop() {
    await this.child?.stop();
  }

  async #call(method, path, body) {
    const options = { method, signal: AbortSignal.timeout(CALL_MS) };
    if (body !== undefined) options.body = JSON.stringify(body);
    const response = await fetch(`${this.url}/_control/${path}`, options);
    const answer = await response.json();
    if (!response.ok) throw new Error(`the double refused ${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  }
}
