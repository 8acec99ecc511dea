/** What the person has in hand: the selection that may go along, files added by hand, where terminals are. */

import path from 'node:path';
import * as vscode from 'vscode';

import type { Found, PastedImage } from '../chat/messages';
import { sayError } from '../log';
import type { AddToChat, PromptBlock } from '../protocol';
import type { Draft, SessionController } from '../session';
import type { Chip } from '../state';
import type { FileIndex } from './fileIndex';

/** A file is sent whole up to this many characters; of a longer one the model is told to read what it needs. */
const FILE_LIMIT = 200_000;
/** Of a folder at most this many names go along. */
const FOLDER_LIMIT = 300;

export class EditorState implements vscode.Disposable {
  readonly #disposables: vscode.Disposable[] = [];
  readonly #terminals = new Map<vscode.Terminal, string>();
  #selection: { chip: Chip; text: string } | undefined;
  #on = true;
  #files: { chip: Chip; text?: string }[] = [];
  #serial = 0;

  constructor(
    private readonly controller: SessionController,
    private readonly index: FileIndex,
  ) {
    this.#disposables.push(
      vscode.window.onDidChangeTextEditorSelection((event) => this.#look(event.textEditor)),
      vscode.window.onDidChangeActiveTextEditor((editor) => this.#look(editor)),
      vscode.window.onDidChangeTerminalShellIntegration((event) =>
        this.#terminal(event.terminal, event.shellIntegration.cwd),
      ),
      vscode.window.onDidEndTerminalShellExecution((event) =>
        this.#terminal(event.terminal, event.shellIntegration.cwd),
      ),
      vscode.window.onDidCloseTerminal((terminal) => void this.#terminals.delete(terminal)),
    );
    this.#look(vscode.window.activeTextEditor);
  }

  dispose(): void {
    this.#disposables.forEach((item) => void item.dispose());
  }

  /** The switch on the selection's chip; it holds until it is switched back. */
  switchSelection(on: boolean): void {
    this.#on = on;
    this.#show();
  }

  remove(id: string): void {
    this.#files = this.#files.filter((file) => file.chip.id !== id);
    this.#show();
  }

  /** The selection as something that can be mentioned, while there is one. */
  get selected(): Found | undefined {
    const chip = this.#selection?.chip;
    if (!chip?.path || !chip.range) return undefined;
    const lines = chip.range.join('-');
    const relative = vscode.workspace.asRelativePath(chip.path);
    const detail = path.dirname(relative) === '.' ? '' : path.dirname(relative);
    const name = `${chip.name}:${lines}`;
    return { kind: 'selection', name, detail, path: chip.path, insert: `${relative}:${lines}`, hits: [] };
  }

  /** The selection stays with the prompt, also when something else is selected later. */
  keepSelection(): void {
    if (!this.#selection) return;
    const { chip, text } = this.#selection;
    this.#serial += 1;
    this.#files.push({ chip: { ...chip, id: `range:${this.#serial}` }, text });
    this.#show();
  }

  /** A file goes along whole; a folder as the list of what is in it. */
  add(file: string, kind: 'file' | 'folder' = 'file'): void {
    if (this.#files.some(({ chip }) => chip.path === file && !chip.range)) return;
    this.#serial += 1;
    this.#files.push({ chip: { id: `file:${this.#serial}`, kind, name: path.basename(file), path: file } });
    this.#show();
  }

  /** A range that was sent to the prompt by a command stays as a chip of its own. */
  mention(range: Pick<AddToChat, 'uri' | 'startLine' | 'endLine' | 'text'>): void {
    const uri = vscode.Uri.parse(range.uri);
    this.#serial += 1;
    const name = path.basename(uri.fsPath);
    const id = `range:${this.#serial}`;
    const chip: Chip = {
      id,
      kind: 'selection',
      name,
      path: uri.fsPath,
      range: [range.startLine, range.endLine],
    };
    this.#files.push({ chip, text: range.text });
    this.#show();
  }

  mentionSelection(): boolean {
    const editor = vscode.window.activeTextEditor;
    if (!editor || editor.document.uri.scheme !== 'file') return false;
    const { selection, document } = editor;
    const last = lastLine(selection);
    const text = document.getText(
      new vscode.Range(selection.start.line, 0, last, document.lineAt(last).text.length),
    );
    this.mention({ uri: String(document.uri), startLine: selection.start.line + 1, endLine: last + 1, text });
    return true;
  }

  /** What was added by hand is used up by a prompt that went out. */
  used(draft: Draft): void {
    const sent = new Set(draft.chips.map((chip) => chip.id));
    this.#files = this.#files.filter((file) => !sent.has(file.chip.id));
    this.#show();
  }

  /** A prompt with the context that goes along. Rejects with a sentence when a file cannot be read as text. */
  async draft(text: string, images: PastedImage[]): Promise<Draft> {
    const blocks: PromptBlock[] = [];
    const chips: Chip[] = [];
    for (const file of this.#files) {
      const content = file.text ?? (await this.#read(file.chip));
      blocks.push(resource(file.chip, content));
      chips.push(file.chip);
    }
    const selection = this.#alone();
    if (selection && this.#on) {
      blocks.push(resource(selection.chip, selection.text));
      chips.push(selection.chip);
    }
    for (const image of images) {
      blocks.push({ type: 'image', mimeType: image.mimeType, data: image.data });
      chips.push({ id: image.name, kind: 'image', name: image.name });
    }
    blocks.push({ type: 'text', text });
    return { text, chips, blocks };
  }

  async #read(chip: Chip): Promise<string> {
    if (chip.kind !== 'folder') return readFile(chip);
    const { files, more } = await this.index.below(chip.path ?? '', FOLDER_LIMIT);
    const rest = more ? [`(and ${more} more files)`] : [];
    return ['Files in this folder:', ...files, ...rest].join('\n');
  }

  #look(editor: vscode.TextEditor | undefined): void {
    if (!editor) {
      // The prompt may have the focus: the selection stays what it was, unless its editor is gone.
      if (vscode.window.visibleTextEditors.length) return;
      this.#selection = undefined;
      this.#show();
      return;
    }
    const { document, selection } = editor;
    if (document.uri.scheme !== 'file') return;
    const last = lastLine(selection);
    const text = selection.isEmpty ? '' : document.getText(selection);
    const chip: Chip = {
      id: 'selection',
      kind: 'selection',
      name: path.basename(document.uri.fsPath),
      path: document.uri.fsPath,
      range: [selection.start.line + 1, last + 1],
    };
    this.#selection = selection.isEmpty ? undefined : { chip, text };
    this.#show();
  }

  #show(): void {
    const chips = this.#files.map((file) => file.chip);
    const selection = this.#alone();
    if (selection) chips.push({ ...selection.chip, on: this.#on });
    this.controller.setChips(chips);
  }

  /** The selection, unless a range that goes along anyway holds it. */
  #alone(): { chip: Chip; text: string } | undefined {
    const selection = this.#selection;
    const held = this.#files.some(({ chip }) => selection && holds(chip, selection.chip));
    return held ? undefined : selection;
  }

  /** Tells the server when a terminal's folder is another one than before. */
  #terminal(terminal: vscode.Terminal, cwd: vscode.Uri | undefined): void {
    if (cwd?.scheme !== 'file') return;
    const before = this.#terminals.get(terminal);
    this.#terminals.set(terminal, cwd.fsPath);
    if (before === undefined || before === cwd.fsPath) return;
    this.controller.calls
      .terminalMoved(before, cwd.fsPath)
      .catch((error: unknown) => sayError('The server was not told of the terminal', error));
  }
}

function holds(outer: Chip, inner: Chip): boolean {
  if (outer.path !== inner.path || !outer.range || !inner.range) return false;
  return outer.range[0] <= inner.range[0] && inner.range[1] <= outer.range[1];
}

/** The last line that has something selected: a selection that ends at a line's start does not hold it. */
function lastLine(selection: vscode.Selection): number {
  const { start, end } = selection;
  return end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
}

function resource(chip: Chip, text: string): PromptBlock {
  const lines = chip.range ? `#L${chip.range[0]}-L${chip.range[1]}` : '';
  const uri = String(vscode.Uri.file(chip.path ?? ''));
  const end = chip.kind === 'folder' ? '/' : lines;
  return { type: 'resource', resource: { uri: `${uri}${end}`, text } };
}

async function readFile(chip: Chip): Promise<string> {
  const document = await openText(chip);
  const text = document.getText();
  if (text.length <= FILE_LIMIT) return text;
  return `(The file has ${text.length} characters, too many to go along. Read the parts that matter.)`;
}

async function openText(chip: Chip): Promise<vscode.TextDocument> {
  try {
    return await vscode.workspace.openTextDocument(vscode.Uri.file(chip.path ?? ''));
  } catch (error) {
    sayError(`${chip.name} could not be read`, error);
    throw new Error(vscode.l10n.t('{0} cannot be read as text. Remove it, then send again.', chip.name), {
      cause: error,
    });
  }
}
