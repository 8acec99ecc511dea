/** The small local model: getting it, and the actions that need more than a code action can ask for. */

import * as vscode from 'vscode';

import type { Panel } from '../chat/panel';
import type { SmallModel } from '../protocol';
import type { Server } from '../server';
import type { SessionController } from '../session';

/** A place in a file, as the server's commands take it. */
interface Target {
  uri: string;
  range: { start: vscode.Position; end: vscode.Position };
}

export class SmallModels {
  constructor(
    private readonly server: Server,
    private readonly controller: SessionController,
    private readonly panel: Panel,
  ) {}

  /** Shows what it is, how large, under which licence; on a yes it is fetched in a terminal that can be stopped. */
  async install(): Promise<void> {
    const small = this.controller.connection?.small;
    const python = this.server.python;
    if (!small || python === undefined) {
      throw new Error(vscode.l10n.t('A model is set up already, or the server is not running'));
    }
    if (small.ready) {
      void vscode.window.showInformationMessage(vscode.l10n.t('The small local model is there already'));
      return;
    }
    if (!(await agreed(small))) return;
    if ((await fetched(python)) === 0) await this.controller.connect();
    else throw new Error(vscode.l10n.t('The small local model was not installed; its terminal says why'));
  }

  /** Asks what to call what; the selection says where. */
  async rename(given?: Target): Promise<void> {
    const target = given ?? here();
    if (!target) return;
    const words = await vscode.window.showInputBox({
      title: vscode.l10n.t('Rename'),
      prompt: vscode.l10n.t('What shall be called how? Empty: find a clearer name'),
      ignoreFocusOut: true,
    });
    if (words === undefined) return;
    await vscode.commands.executeCommand('sidelight.rename', {
      ...target,
      ...(words.trim() ? { words: words.trim() } : {}),
    });
  }

  /** Into the box of the source control view where the small model writes it, else asked in the chat. */
  async commitMessage(control?: vscode.SourceControl): Promise<void> {
    const uri = control?.rootUri ?? vscode.workspace.workspaceFolders?.[0]?.uri;
    if (!uri) return;
    if (!onlySmall(this.controller)) {
      const text = vscode.l10n.t('Write a commit message for what is staged; do not commit.');
      await this.panel.reveal({ type: 'insert', text, send: true });
      return;
    }
    const made = await vscode.commands.executeCommand<{ text: string } | null>('sidelight.commitMessage', {
      uri: uri.toString(),
    });
    const box = await inputBox(uri);
    if (!made) return;
    if (box) box.value = made.text;
    else await vscode.env.clipboard.writeText(made.text);
    const words = vscode.l10n.t('Commit message by the small local model: {0}', made.text);
    vscode.window.setStatusBarMessage(words, 10_000);
  }
}

/** Whether the small local model is the only one. */
export function onlySmall({ connection }: SessionController): boolean {
  return connection?.ready === false && connection.small?.ready === true;
}

function here(): Target | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return undefined;
  const { start, end } = editor.selection;
  return { uri: editor.document.uri.toString(), range: { start, end } };
}

async function agreed(small: SmallModel): Promise<boolean> {
  const fetch = vscode.l10n.t('Fetch it');
  const detail = vscode.l10n.t(
    '{0}, {1} MB, licence {2}, kept in {3}. It explains code, writes docstrings and commit messages, and renames. It cannot work as an agent.',
    small.title,
    small.megabytes,
    small.licence,
    small.place,
  );
  const question = vscode.l10n.t('Get a small model that runs on this computer?');
  return (await vscode.window.showInformationMessage(question, { modal: true, detail }, fetch)) === fetch;
}

/** Runs the command as a task; its exit code. */
async function fetched(python: string): Promise<number | undefined> {
  const words = ['-P', '-m', 'sidelight', 'local', 'install', '--yes'];
  const task = new vscode.Task(
    { type: 'sidelight' },
    vscode.TaskScope.Workspace,
    vscode.l10n.t('Small local model'),
    'Sidelight',
    new vscode.ProcessExecution(python, words),
  );
  const run = await vscode.tasks.executeTask(task);
  return new Promise((resolve) => {
    const listening = vscode.tasks.onDidEndTaskProcess((event) => {
      if (event.execution !== run) return;
      listening.dispose();
      resolve(event.exitCode);
    });
  });
}

interface Git {
  getAPI(version: 1): { getRepository(uri: vscode.Uri): { inputBox: { value: string } } | null };
}

async function inputBox(uri: vscode.Uri): Promise<{ value: string } | undefined> {
  const git = vscode.extensions.getExtension<Git>('vscode.git');
  if (!git) return undefined;
  const api = (git.isActive ? git.exports : await git.activate()).getAPI(1);
  return api.getRepository(uri)?.inputBox;
}
