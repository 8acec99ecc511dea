/** The text before the agent's pending changes, as read-only documents, and the live diff against the file. */

import path from 'node:path';
import * as vscode from 'vscode';

import { sayError } from '../log';

export const ORIGINAL = 'sidelight-original';
export const OUTPUT = 'sidelight-output';

export function originalUri(file: vscode.Uri): vscode.Uri {
  return file.with({ scheme: ORIGINAL });
}

/** Serves originals; `changed` makes open quick diffs and diff editors ask again. */
export class Originals implements vscode.TextDocumentContentProvider {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;

  constructor(private readonly original: (uri: string) => Promise<string | undefined>) {}

  changed(file: vscode.Uri): void {
    this.#changed.fire(originalUri(file));
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const file = uri.with({ scheme: 'file' });
    try {
      const text = await this.original(String(file));
      if (text !== undefined) return text;
    } catch (error) {
      sayError(`The original of ${file.fsPath} is not known`, error);
    }
    // Nothing is pending there: the file itself, so that nothing is marked as changed.
    return Buffer.from(await vscode.workspace.fs.readFile(file)).toString('utf8');
  }
}

/** Opens a diff editor: left the original, right the file itself, which stays editable. */
export async function openDiff(file: vscode.Uri): Promise<void> {
  const title = vscode.l10n.t('{0} (changes to review)', path.basename(file.fsPath));
  await vscode.commands.executeCommand('vscode.diff', originalUri(file), file, title, { preview: true });
}
