/** "Set Up Python": helps to an environment of Sidelight's own when no Python here can run the server. */

import * as vscode from 'vscode';

import type { Problem, Step, Wheel } from '../environment';
import { make, NotMade, wheelIn } from '../environment';
import { log } from '../log';
import * as python from '../python';
import { extensionPython, type Server } from '../server';
import { readSettings, SECTION } from '../settings';

export class SetUp {
  constructor(
    private readonly extension: vscode.Uri,
    private readonly storage: vscode.Uri,
    private readonly server: Server,
  ) {}

  /** Makes the environment with progress in sight, then starts the server; rejects with what to do. */
  async run(): Promise<void> {
    const wheel = wheelIn(this.extension.fsPath);
    if (!wheel) {
      throw new Error(
        vscode.l10n.t(
          'This build of the extension does not bring the server. Install it with "python3 -m pip install sidelight" and choose that interpreter.',
        ),
      );
    }
    if (!(await ownMayCount())) return;
    await vscode.workspace.fs.createDirectory(this.storage);
    const command = await this.#builder();
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: vscode.l10n.t('Setting up Python for Sidelight'),
      cancellable: true,
    };
    const made = await vscode.window.withProgress(options, (progress, cancel) =>
      this.server.whileStopped(() => this.#make(wheel, command, progress, cancel)),
    );
    if (made) {
      const done = vscode.l10n.t('Python is set up for Sidelight.');
      void vscode.window.showInformationMessage(done);
    }
  }

  /** False when the person cancelled. */
  async #make(
    wheel: Wheel,
    command: string,
    progress: vscode.Progress<{ message: string }>,
    cancel: vscode.CancellationToken,
  ): Promise<boolean> {
    const stop = new AbortController();
    const listening = cancel.onCancellationRequested(() => stop.abort());
    try {
      await make({
        python: command,
        storage: this.storage.fsPath,
        wheel,
        env: environment(),
        signal: stop.signal,
        onStep: (step) => progress.report({ message: words(step) }),
        onOutput: (text) => log().info(text.trimEnd()),
      });
      return true;
    } catch (error) {
      if (stop.signal.aborted) return false;
      if (error instanceof NotMade)
        throw new Error(`${advice(error.problem)}\n${error.said}`, { cause: error });
      throw error;
    } finally {
      listening.dispose();
    }
  }

  /** A Python that is new enough to make an environment with. */
  async #builder(): Promise<string> {
    const list = python.builders(readSettings().python, await extensionPython());
    const tried: python.Tried[] = [];
    for (const candidate of list) {
      try {
        const why = python.tooOld(await python.probe(candidate.command, this.storage.fsPath, environment()));
        if (why === undefined) return candidate.command;
        tried.push({ candidate, why });
      } catch (error) {
        tried.push({ candidate, why: error instanceof Error ? error.message : String(error) });
      }
    }
    log().error(`No Python is new enough.\n${python.explain(tried)}`);
    throw new Error(
      vscode.l10n.t(
        'There is no Python 3.11 or newer here. Install one (python.org, or your system’s packages), then set up again.',
      ),
    );
  }
}

/** A setting that names another Python goes before ours: only the person may take it back. */
async function ownMayCount(): Promise<boolean> {
  const named = readSettings().python;
  if (!named) return true;
  const use = vscode.l10n.t('Use Sidelight’s own');
  const question = vscode.l10n.t('The setting sidelight.python names {0}. Clear it?', named);
  if ((await vscode.window.showWarningMessage(question, { modal: true }, use)) !== use) return false;
  const section = vscode.workspace.getConfiguration(SECTION);
  const where = section.inspect('python');
  if (where?.workspaceValue !== undefined)
    await section.update('python', undefined, vscode.ConfigurationTarget.Workspace);
  if (where?.globalValue !== undefined)
    await section.update('python', undefined, vscode.ConfigurationTarget.Global);
  return true;
}

/** pip knows no editor's proxy; what the person set for the server's environment goes before it. */
function environment(): NodeJS.ProcessEnv {
  const { proxy, environment: own } = readSettings();
  const through = proxy ? { HTTPS_PROXY: proxy, HTTP_PROXY: proxy } : {};
  return { ...process.env, ...through, ...own };
}

function words(step: Step): string {
  switch (step) {
    case 'environment':
      return vscode.l10n.t('making an environment…');
    case 'libraries':
      return vscode.l10n.t('fetching the libraries…');
    case 'server':
      return vscode.l10n.t('installing the server…');
  }
}

function advice(problem: Problem): string {
  switch (problem) {
    case 'noVenv':
      return vscode.l10n.t(
        'This Python cannot make environments. On Debian and Ubuntu: sudo apt install python3-venv. Then set up again.',
      );
    case 'noNetwork':
      return vscode.l10n.t(
        'The package index could not be reached. Check the connection; a proxy is taken from the setting http.proxy. Then set up again.',
      );
    case 'noSpace':
      return vscode.l10n.t('The disk is full. Make room (about 300 MB), then set up again.');
    case 'other':
      return vscode.l10n.t('Python could not be set up; the log has all that was said.');
  }
}
