/** Pending hunks in the editor: quick diff, line decorations, commands. Code lenses come from the server. */

import * as vscode from 'vscode';

import { setContext } from '../contextKeys';
import type { SessionController } from '../session';
import type { Originals } from './diff';
import { openDiff, originalUri } from './diff';
import type { Pending, Waiting } from './hunks';
import { hunkAt, nextHunk, waitingHunks } from './hunks';

/** A change of a quick diff as its title menu hands it over; lines are 1-based, 0 lines for a deletion. */
interface LineChange {
  modifiedStartLineNumber: number;
  modifiedEndLineNumber: number;
}

export class ReviewInEditor implements vscode.Disposable {
  readonly #disposables: vscode.Disposable[] = [];
  readonly #lines = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('sidelight.pendingLine'),
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.addedForeground'),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
  #files = new Map<string, Pending[]>();
  #shown: Pending[] = [];
  #control: { source: vscode.SourceControl; group: vscode.SourceControlResourceGroup } | undefined;

  constructor(
    private readonly controller: SessionController,
    private readonly originals: Originals,
  ) {
    this.#disposables.push(
      this.#lines,
      controller.onChange(() => this.#update()),
      vscode.window.onDidChangeVisibleTextEditors(() => this.#decorate()),
      vscode.window.onDidChangeActiveTextEditor(() => this.#tellContext()),
    );
  }

  dispose(): void {
    this.#control?.source.dispose();
    this.#disposables.forEach((item) => void item.dispose());
  }

  // --- commands ---

  /** From the quick diff's peek (uri, changes, index), a lens, or the palette (the hunk at the cursor). */
  async hunk(
    action: 'keep' | 'undo',
    uri?: vscode.Uri,
    changes?: LineChange[],
    index?: number,
  ): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const change = changes?.[index ?? 0];
    const cursor = (editor?.selection.active.line ?? 0) + 1;
    const first = change?.modifiedStartLineNumber ?? cursor;
    const last = Math.max(first, change?.modifiedEndLineNumber ?? cursor);
    const found = hunkAt(this.#hunks(uri ?? editor?.document.uri), first, last);
    if (found) await this.controller.review(action, { hunkId: found.id }, found.sessionId);
  }

  async file(action: 'keep' | 'undo', uri?: vscode.Uri): Promise<void> {
    const files = this.#files.get(String(fileUri(uri ?? vscode.window.activeTextEditor?.document.uri))) ?? [];
    for (const { sessionId, file } of files) {
      await this.controller.review(action, { path: file.path }, sessionId);
    }
  }

  async all(action: 'keep' | 'undo'): Promise<void> {
    const sessions = new Set(this.#shown.map(({ sessionId }) => sessionId));
    for (const sessionId of sessions) await this.controller.review(action, {}, sessionId);
  }

  async diff(target?: vscode.Uri | string): Promise<void> {
    const uri =
      typeof target === 'string'
        ? vscode.Uri.parse(target)
        : (target ?? vscode.window.activeTextEditor?.document.uri);
    if (uri) await openDiff(fileUri(uri) ?? uri);
  }

  /** Goes to the first hunk that waits, in whichever file. */
  async begin(): Promise<void> {
    const [address] = this.#files.keys();
    if (address === undefined) return;
    const uri = vscode.Uri.parse(address);
    const [hunk] = this.#hunks(uri);
    if (hunk) await showLine(uri, hunk.line);
  }

  move(step: 1 | -1): void {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return;
    const hunk = nextHunk(this.#hunks(editor.document.uri), editor.selection.active.line + 1, step);
    if (hunk) reveal(editor, hunk.line);
  }

  // --- what is shown ---

  #hunks(uri: vscode.Uri | undefined): Waiting[] {
    return waitingHunks(this.#files.get(String(uri)) ?? []);
  }

  #update(): void {
    const pending = this.controller.pending;
    if (same(pending, this.#shown)) return;
    const before = this.#files;
    this.#shown = pending;
    this.#files = new Map();
    for (const one of pending.filter((each) => waitingHunks([each]).length)) {
      const address = String(vscode.Uri.parse(one.file.uri));
      this.#files.set(address, [...(this.#files.get(address) ?? []), one]);
    }
    for (const uri of new Set([...before.keys(), ...this.#files.keys()])) {
      const changed = !same(before.get(uri) ?? [], this.#files.get(uri) ?? []);
      if (changed) this.originals.changed(vscode.Uri.parse(uri));
    }
    this.#offerQuickDiff(before);
    this.#decorate();
    this.#tellContext();
  }

  /** A source control exists only while something waits; it is made anew when other files do. */
  #offerQuickDiff(before: Map<string, Pending[]>): void {
    const alike = before.size === this.#files.size && [...before.keys()].every((uri) => this.#files.has(uri));
    if (alike && this.#control) return;
    if (this.#files.size === 0) {
      this.#control?.source.dispose();
      this.#control = undefined;
      return;
    }
    const { source, group } = (this.#control ??= newControl());
    source.quickDiffProvider = {
      provideOriginalResource: (uri) => (this.#files.has(String(uri)) ? originalUri(uri) : undefined),
    };
    group.resourceStates = [...this.#files.keys()].map((address) => {
      const resourceUri = vscode.Uri.parse(address);
      return { resourceUri, command: { command: 'sidelight.openDiff', title: '', arguments: [resourceUri] } };
    });
    source.count = this.#files.size;
  }

  #decorate(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const ranges = this.#hunks(editor.document.uri)
        .filter((hunk) => hunk.lines > 0)
        .map((hunk) => new vscode.Range(hunk.line - 1, 0, hunk.line - 2 + hunk.lines, 0));
      editor.setDecorations(this.#lines, ranges);
    }
  }

  #tellContext(): void {
    const uri = fileUri(vscode.window.activeTextEditor?.document.uri);
    setContext('sidelight.pending', this.#files.size > 0);
    setContext('sidelight.fileInReview', uri !== undefined && this.#files.has(String(uri)));
  }
}

function same(some: Pending[], others: Pending[]): boolean {
  return some.length === others.length && some.every(({ file }, at) => file === others[at]?.file);
}

function newControl(): { source: vscode.SourceControl; group: vscode.SourceControlResourceGroup } {
  const source = vscode.scm.createSourceControl('sidelight', 'Sidelight');
  source.inputBox.visible = false;
  return { source, group: source.createResourceGroup('pending', vscode.l10n.t('Waiting for review')) };
}

/** The file itself, also from the left side of its diff. */
function fileUri(uri: vscode.Uri | undefined): vscode.Uri | undefined {
  return uri?.with({ scheme: 'file' });
}

export async function showLine(uri: vscode.Uri, line: number): Promise<void> {
  const editor = await vscode.window.showTextDocument(uri, { preview: true });
  reveal(editor, line);
}

function reveal(editor: vscode.TextEditor, line: number): void {
  const at = new vscode.Position(Math.max(0, Math.min(line, editor.document.lineCount) - 1), 0);
  editor.selection = new vscode.Selection(at, at);
  editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
