// One VS Code server with folders of its own, from the installation that install.py made.

import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ChildProcess } from './processes.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const START_MS = 60_000;

// Each theme by its id in the settings, its label in the picker, and the class of the workbench.
export const THEMES = {
  dark: { id: 'Dark Modern', label: 'Dark Modern', mark: 'vs-dark' },
  light: { id: 'Light Modern', label: 'Light Modern', mark: 'vs' },
  hc: { id: 'Default High Contrast', label: 'Dark High Contrast', mark: 'hc-black' },
  'hc-light': { id: 'Default High Contrast Light', label: 'Light High Contrast', mark: 'hc-light' },
};

const QUIET = {
  'chat.disableAIFeatures': true, // else a chat side bar of VS Code's own opens
  'editor.minimap.enabled': false,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'files.autoSave': 'off', // in a browser it is on where nobody says otherwise
  'files.hotExit': 'off',
  'git.openRepositoryInParentFolders': 'never',
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'workbench.colorTheme': THEMES.dark.id,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
};

/** Where the installed parts are: `{home, node, server, chromium}`. Throws when they are not. */
export function installation() {
  const question = [join(HERE, 'install.py'), '--where'];
  return JSON.parse(execFileSync('python3', question, { encoding: 'utf8' }));
}

const PLACES = ['User', 'Machine'];

export class Server {
  /**
   * Fresh folders for one run below the system's temporary folder; nothing is started yet.
   * `vsix` is installed by `start()`; `env` is laid over this process's environment, less what a
   * VS Code terminal put there; `smokeTestDriver` admits an in-host suite, and hides toasts.
   */
  constructor({ vsix, settings = {}, env = {}, smokeTestDriver = false } = {}) {
    this.parts = installation();
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'sidelight-vscode-')));
    process.once('exit', () => rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 }));
    this.userData = join(this.folder, 'data');
    this.log = join(this.folder, 'server.log');
    this.vsix = vsix;
    this.smokeTestDriver = smokeTestDriver;
    this.env = env;
    this.token = randomUUID();
    for (const name of ['data/User', 'extensions']) {
      mkdirSync(join(this.folder, name), { recursive: true });
    }
    // A page of another site could reach a server without a token; the file hides it from `ps`.
    writeFileSync(join(this.folder, 'token'), this.token, { mode: 0o600 });
    // Settings of this machine (an interpreter, a process environment) count only from the machine's file.
    mkdirSync(join(this.userData, 'Machine'), { recursive: true });
    for (const place of PLACES) {
      writeFileSync(join(this.userData, place, 'settings.json'), JSON.stringify({ ...QUIET, ...settings }));
    }
  }

  /** Change user settings on disk. An open workbench takes them up at its next reload. */
  set(settings) {
    for (const place of PLACES) {
      const file = join(this.userData, place, 'settings.json');
      const present = JSON.parse(readFileSync(file, 'utf8')); // the workbench writes to it as well
      writeFileSync(file, JSON.stringify({ ...present, ...settings }, undefined, 2));
    }
  }

  /** Install the extension, then listen. Returns when the server does. */
  async start() {
    if (this.vsix) await this.#run(['--install-extension', this.vsix]).succeeded(START_MS);
    const flags = ['--host', '127.0.0.1', '--port', '0', '--reconnection-grace-time', '3'];
    flags.push('--connection-token-file', join(this.folder, 'token'));
    if (this.smokeTestDriver) flags.push('--enable-smoke-test-driver');
    this.process = this.#run(flags);
    const [, port] = await this.process.line(/agent listening on (\d+)/, START_MS);
    this.authority = `127.0.0.1:${port}`;
  }

  /** The address that opens a folder; `payload` is a list of pairs for the workbench. */
  address(workspace, payload) {
    const query = new URLSearchParams({ tkn: this.token, folder: workspace });
    if (payload) query.set('payload', JSON.stringify(payload));
    return `http://${this.authority}/?${query}`;
  }

  /** End the server and everything below it; its folders stay until this program exits. */
  async end() {
    await this.process?.stop();
  }

  #run(flags) {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VSCODE_'));
    const shared = ['--accept-server-license-terms', '--telemetry-level', 'off'];
    for (const name of ['--user-data-dir', '--server-data-dir']) shared.push(name, this.userData);
    shared.push('--extensions-dir', join(this.folder, 'extensions'));
    return new ChildProcess(this.parts.node, [this.parts.server, ...shared, ...flags], {
      cwd: this.folder,
      env: { ...Object.fromEntries(inherited), ...this.env },
      log: this.log,
    });
  }
}
